import { withDisplay } from '../../platform/display';
import { READ_TIMEOUT_MS, envOf, isWayland } from '../front-app/adapter';
import type { IdleAdapter } from './adapter';

/** The X server's own count of time without input. Under Wayland it sees only what XWayland is given. */
export const x11Idle: IdleAdapter = {
  id: 'x11',
  detect: (desktop) =>
    desktop.platform !== 'win32' &&
    desktop.platform !== 'darwin' &&
    envOf(desktop, 'DISPLAY') !== undefined &&
    !isWayland(desktop),
  async read(desktop) {
    const display = envOf(desktop, 'DISPLAY') ?? ':0';
    return {
      idleMs: await withDisplay({ display, env: desktop.env, timeoutMs: READ_TIMEOUT_MS }, (x) => x.idleMs()),
    };
  },
};
