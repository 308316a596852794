import { isUtf8 } from 'node:buffer';

import { StewardError } from '../../errors';
import { withDisplay, type Display } from '../../platform/desktop/display';
import { READ_TIMEOUT_MS, x11Display, type Desktop, type FrontApp, type FrontAppAdapter } from './adapter';
import { nameWindow } from './desktop-entries';

/**
 * X11: the active window that the window manager names, else the window with the input focus. Four properties are
 * ever asked for: _NET_ACTIVE_WINDOW, _NET_SUPPORTED, WM_CLASS and _NET_WM_PID; the title's are not among them.
 */
export const x11: FrontAppAdapter = {
  id: 'x11',
  detect: (desktop) => x11Display(desktop) !== undefined,
  async read(desktop) {
    const display = x11Display(desktop) ?? ':0';
    const options = { display, env: desktop.env, timeoutMs: READ_TIMEOUT_MS };
    const window = await withDisplay(options, async (x) => {
      const id = numberIn(await x.property(x.root, '_NET_ACTIVE_WINDOW')) ?? 0;
      if (id !== 0) return factsOf(x, id);
      return (await x.isSupported('_NET_ACTIVE_WINDOW')) ? null : focusedWindow(x);
    });
    return window === null ? null : nameX11Window(desktop, window);
  },
};

interface X11Window {
  classes: Buffer | undefined;
  pid: Buffer | undefined;
}

async function factsOf(x: Display, id: number): Promise<X11Window> {
  return { classes: await x.property(id, 'WM_CLASS'), pid: await x.property(id, '_NET_WM_PID') };
}

/** For a window manager that names no active window, or none at all; null when nothing has the focus. */
async function focusedWindow(x: Display): Promise<X11Window | null> {
  const windows = await x.focused();
  if (windows.length === 0) return null;
  for (const id of windows) {
    const facts = await factsOf(x, id);
    if (facts.classes !== undefined) return facts;
  }
  throw new StewardError(
    'not_found',
    'The window manager does not name the active window (_NET_ACTIVE_WINDOW), and the window with the focus has no class.',
    { hint: 'Use a window manager that supports EWMH, such as openbox, i3 or xfwm4.' },
  );
}

/** WM_CLASS is `instance NUL class NUL`; a window without one, and without a pid, is gone. */
export function nameX11Window(desktop: Pick<Desktop, 'env'>, { classes, pid }: X11Window): FrontApp | null {
  if (classes === undefined && pid === undefined) return null;
  const [instance, name] = (classes?.toString('latin1') ?? '').split('\0').map(decoded);
  return nameWindow(desktop, { ids: [name, instance], pid: numberIn(pid) });
}

function numberIn(value: Buffer | undefined): number | undefined {
  return value !== undefined && value.length >= 4 ? value.readUInt32LE(0) : undefined;
}

/** Many programs write UTF-8 into WM_CLASS, which is Latin-1 by the book: whatever is valid UTF-8 is that. */
function decoded(latin1: string): string {
  const bytes = Buffer.from(latin1, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : latin1;
}
