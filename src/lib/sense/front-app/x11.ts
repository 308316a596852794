import { isUtf8 } from 'node:buffer';

import { StewardError } from '../../errors';
import type { Display } from '../../platform/desktop/display';
import { onX11, x11Display, type Desktop, type FrontAppAdapter } from './adapter';
import { nameWindow } from './desktop-entries';

const ACTIVE = '_NET_ACTIVE_WINDOW';

/** The adapter for X11. Never reads a window's title. */
export const x11: FrontAppAdapter = {
  id: 'x11',
  detect: (desktop) => x11Display(desktop) !== undefined,
  async read(desktop) {
    const window = await onX11(desktop, async (x) => {
      const id = numberIn(await x.property(x.root, ACTIVE)) ?? 0;
      if (id !== 0) return readWindow(x, id);
      return (await x.isSupported(ACTIVE)) ? null : focusedWindow(x);
    });
    return window === null ? null : nameX11Window(desktop, window);
  },
  watch(desktop, onChange, signal) {
    return onX11(desktop, async (x) => {
      if (await x.isSupported(ACTIVE)) {
        if (desktop.kept !== undefined) desktop.kept.display = x;
        return x.watchRoot(ACTIVE, onChange, signal);
      }
      throw new StewardError('not_found', 'The window manager does not report the active window.', {
        hint: 'Use a window manager that supports EWMH, such as openbox, i3 or xfwm4.',
      });
    });
  },
};

interface X11Window {
  classes: Buffer | undefined;
  pid: Buffer | undefined;
}

async function readWindow(x: Display, id: number): Promise<X11Window> {
  return { classes: await x.property(id, 'WM_CLASS'), pid: await x.property(id, '_NET_WM_PID') };
}

async function focusedWindow(x: Display): Promise<X11Window | null> {
  const ids = await x.focused();
  if (ids.length === 0) return null;
  for (const id of ids) {
    const window = await readWindow(x, id);
    if (window.classes !== undefined) return window;
  }
  throw new StewardError(
    'not_found',
    'The window manager does not set _NET_ACTIVE_WINDOW, and the focused window has no class.',
    { hint: 'Use a window manager that supports EWMH, such as openbox, i3 or xfwm4.' },
  );
}

/** Returns the application named by WM_CLASS, or null if the window no longer exists. */
export function nameX11Window(desktop: Pick<Desktop, 'env' | 'kept'>, { classes, pid }: X11Window) {
  if (classes === undefined && pid === undefined) return null;
  const [instance, name] = (classes?.toString('latin1') ?? '').split('\0').map(decoded);
  return nameWindow(desktop, [name, instance], numberIn(pid) ?? 0);
}

function numberIn(value: Buffer | undefined): number | undefined {
  return value !== undefined && value.length >= 4 ? value.readUInt32LE(0) : undefined;
}

function decoded(latin1: string): string {
  const bytes = Buffer.from(latin1, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : latin1;
}
