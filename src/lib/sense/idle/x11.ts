import { withDisplay } from '../../platform/desktop/display';
import { READ_TIMEOUT_MS, x11Display } from '../front-app/adapter';
import type { IdleAdapter } from './adapter';

/** The X server's own count of time without input. Under Wayland it sees only what XWayland is given. */
export const x11Idle: IdleAdapter = {
  id: 'x11',
  detect: (desktop) => x11Display(desktop) !== undefined,
  async read(desktop) {
    const display = x11Display(desktop) ?? ':0';
    return {
      idleMs: await withDisplay({ display, env: desktop.env, timeoutMs: READ_TIMEOUT_MS }, (x) => x.idleMs()),
    };
  },
};
