import { StewardError } from '../../errors';
import { sessionBusAddress } from '../../platform/desktop/bus';
import { withDisplay, type Display } from '../../platform/desktop/display';
import type { Cached } from '../../platform/files/file-cache';
import type { Run } from '../../platform/process/process';
import { within } from '../../platform/time/wait';
import type { TerminalInput } from '../../sessions/terminal-input';

/** The frontmost application's name and id, without its window title. */
export interface FrontApp {
  /** Display name in English, such as "Firefox". The record groups time by this name. */
  app: string;
  /** Bundle id (macOS), desktop id or window class (Linux), or executable name (Windows). */
  bundleId?: string;
  pid?: number;
  /** Terminal in front, if the adapter reports it. `pid` is then a process on this terminal. */
  tty?: string;
}

export interface Desktop {
  platform: NodeJS.Platform;
  env: NodeJS.ProcessEnv;
  run: Run;
  /** Returns your last input at a terminal. Used where there is no desktop. */
  terminals?: () => Promise<TerminalInput | undefined>;
  /** What a watch keeps between readings; a single reading keeps nothing. */
  kept?: Kept;
}

export interface Kept {
  /** The watch's connection to the X server. A connection of their own would cost readings 5 ms. */
  display?: Display;
  entries?: Cached<DesktopEntry[]>;
}

/** An application in a `.desktop` file. */
export interface DesktopEntry {
  id: string;
  name: string;
  windowClass: string | undefined;
  program: string | undefined;
}

export interface FrontAppAdapter {
  /** One of x11, i3, sway, wlroots, kwin, gnome, hyprland, macos, windows or terminal. Stored in `detail.via`. */
  id: string;
  /** Returns whether the environment variables indicate this desktop. */
  detect(desktop: Desktop): boolean;
  /** Returns the frontmost application, or null if none has the focus. Throws `not_found` or `unavailable`. */
  read(desktop: Desktop): Promise<FrontApp | null>;
  /**
   * Calls `onChange` when the focus may have changed, and once after connecting. Rejects when the connection
   * ends.
   */
  watch?(desktop: Desktop, onChange: () => void, signal: AbortSignal): Promise<void>;
}

export const READ_TIMEOUT_MS = 3000;

export function envOf({ env }: Pick<Desktop, 'env'>, name: string): string | undefined {
  return env[name] === '' ? undefined : env[name];
}

/** Returns whether this system is Linux or BSD. */
export function isXdgSystem({ platform }: Pick<Desktop, 'platform'>): boolean {
  return platform !== 'win32' && platform !== 'darwin';
}

/** Returns whether this is a Wayland session, in which X11 shows only XWayland windows. */
export function isWayland(desktop: Pick<Desktop, 'env' | 'platform'>): boolean {
  const hasDisplay = envOf(desktop, 'WAYLAND_DISPLAY') !== undefined;
  return (
    isXdgSystem(desktop) && (hasDisplay || envOf(desktop, 'XDG_SESSION_TYPE')?.toLowerCase() === 'wayland')
  );
}

/** Returns the X display, or undefined in a Wayland session. */
export function x11Display(desktop: Pick<Desktop, 'env' | 'platform'>): string | undefined {
  return isXdgSystem(desktop) && !isWayland(desktop) ? envOf(desktop, 'DISPLAY') : undefined;
}

/** Runs `use` on the watch's connection to the X server, or on a new one. */
export async function onX11<T>(desktop: Desktop, use: (display: Display) => Promise<T>): Promise<T> {
  const open = desktop.kept?.display;
  if (open === undefined) {
    const display = x11Display(desktop) ?? ':0';
    return withDisplay({ display, env: desktop.env, timeoutMs: READ_TIMEOUT_MS }, use);
  }
  const answer = use(open).then((value) => ({ value }));
  const found = await within(READ_TIMEOUT_MS, answer, undefined);
  if (found !== undefined) return found.value;
  throw new StewardError('unavailable', 'The X server is not responding.', {
    hint: 'Check that other programs can still open windows.',
  });
}

/** Returns whether this is a Wayland session of the named desktop, according to XDG_CURRENT_DESKTOP. */
export function isWaylandOf(desktop: Desktop, name: string): boolean {
  const names = envOf(desktop, 'XDG_CURRENT_DESKTOP')?.toLowerCase().split(':') ?? [];
  return isWayland(desktop) && names.includes(name.toLowerCase());
}

/**
 * Returns the options for connecting to the D-Bus session bus. Throws `unavailable` if there is no session
 * bus.
 */
export function sessionBus({ env }: Desktop, desktop: string): { address: string; timeoutMs: number } {
  const address = sessionBusAddress(env);
  if (address !== undefined) return { address, timeoutMs: READ_TIMEOUT_MS };
  throw new StewardError(
    'unavailable',
    `${desktop} is only reachable over the session bus, but no session bus was found.`,
    {
      hint: 'Run the capture in the desktop session, where DBUS_SESSION_BUS_ADDRESS is set.',
    },
  );
}

/**
 * Parses a JSON response, keeping only the keys for which `isAllowed` returns true, so that window titles are
 * dropped. The key of the top-level value is empty.
 */
export function parseAnswer(
  text: string,
  isAllowed: (key: string) => boolean,
  { from, hint }: { from: string; hint: string },
): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text, (key, part: unknown) => (isAllowed(key) ? part : undefined));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // Omit the parser's error message, because it quotes the response, which may contain a window title.
    throw new StewardError('unavailable', `${from} returned invalid JSON.`, { hint });
  }
}
