import { withDisplay } from '../../platform/display';
import { READ_TIMEOUT_MS, x11Display, type Desktop, type FrontApp, type FrontAppAdapter } from './adapter';
import { nameWindow } from './desktop-entries';

/**
 * X11, with any window manager that keeps _NET_ACTIVE_WINDOW. Three properties are ever asked for:
 * _NET_ACTIVE_WINDOW, WM_CLASS and _NET_WM_PID; the title's are not among them.
 */
export const x11: FrontAppAdapter = {
  id: 'x11',
  detect: (desktop) => x11Display(desktop) !== undefined,
  async read(desktop) {
    const display = x11Display(desktop) ?? ':0';
    const window = await withDisplay({ display, env: desktop.env, timeoutMs: READ_TIMEOUT_MS }, async (x) => {
      const active = (await x.property(x.root, '_NET_ACTIVE_WINDOW')) ?? Buffer.alloc(0);
      const id = active.length < 4 ? 0 : active.readUInt32LE(0);
      if (id === 0) return null;
      const [classes, pid] = await Promise.all([x.property(id, 'WM_CLASS'), x.property(id, '_NET_WM_PID')]);
      return { classes, pid };
    });
    return window === null ? null : nameX11Window(desktop, window);
  },
};

/** WM_CLASS is `instance NUL class NUL`; a window without one, and without a pid, is gone. */
export function nameX11Window(
  desktop: Pick<Desktop, 'env'>,
  window: { classes: Buffer | undefined; pid: Buffer | undefined },
): FrontApp | null {
  if (window.classes === undefined && window.pid === undefined) return null;
  const [instance, name] = (window.classes?.toString('latin1') ?? '').split('\0');
  const pid = window.pid !== undefined && window.pid.length >= 4 ? window.pid.readUInt32LE(0) : undefined;
  return nameWindow(desktop, { ids: [name, instance], pid });
}
