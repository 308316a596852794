import { StewardError } from '../../errors';
import { sessionBusAddress } from '../../platform/desktop/bus';
import type { Run } from '../../platform/process/process';

/** The front application: its name and ids, never a title. */
export interface FrontApp {
  /** Unlocalised display name ("Firefox"); what the record groups by. */
  app: string;
  /** Bundle id (macOS), desktop id or window class (Linux), executable name (Windows). */
  bundleId?: string;
  pid?: number;
}

/** What the adapters may know of the desktop they run on. */
export interface Desktop {
  platform: NodeJS.Platform;
  env: NodeJS.ProcessEnv;
  run: Run;
}

export interface FrontAppAdapter {
  /** Stored as `detail.via`: x11, i3, sway, wlroots, kwin, gnome, hyprland, macos, windows. */
  id: string;
  /** Cheap and without side effects: does the environment say that this desktop runs here? */
  detect(desktop: Desktop): boolean;
  /**
   * The front application, or null when none has the focus. Throws `not_found` when this desktop lacks what
   * it takes (an extension, a protocol, a program), and `unavailable` when it is all there and does not answer.
   */
  read(desktop: Desktop): Promise<FrontApp | null>;
}

/** Every read is over after this long, whatever the desktop does. */
export const READ_TIMEOUT_MS = 3000;

/** The variable's value; undefined when it is missing or empty. */
export function envOf({ env }: Pick<Desktop, 'env'>, name: string): string | undefined {
  return env[name] === '' ? undefined : env[name];
}

/** The systems whose desktops are known by XDG and display variables: Linux and the BSDs. */
export function isXdgSystem({ platform }: Pick<Desktop, 'platform'>): boolean {
  return platform !== 'win32' && platform !== 'darwin';
}

/** Is this a Wayland session? There, X11 knows only the windows of XWayland, and would say "none" too often. */
export function isWayland(desktop: Pick<Desktop, 'env' | 'platform'>): boolean {
  const isNamed = envOf(desktop, 'WAYLAND_DISPLAY') !== undefined;
  return isXdgSystem(desktop) && (isNamed || envOf(desktop, 'XDG_SESSION_TYPE')?.toLowerCase() === 'wayland');
}

/** The X display of an X11 session; undefined in a Wayland session, where it is XWayland's. */
export function x11Display(desktop: Pick<Desktop, 'env' | 'platform'>): string | undefined {
  return isXdgSystem(desktop) && !isWayland(desktop) ? envOf(desktop, 'DISPLAY') : undefined;
}

/** Is this a Wayland session of that desktop, by XDG_CURRENT_DESKTOP ("ubuntu:GNOME")? */
export function isWaylandOf(desktop: Desktop, name: string): boolean {
  const named = envOf(desktop, 'XDG_CURRENT_DESKTOP')?.toLowerCase().split(':') ?? [];
  return isWayland(desktop) && named.includes(name.toLowerCase());
}

/** The options of a conversation over the session bus; `unavailable` without one. */
export function onSessionBus({ env }: Desktop, who: string): { address: string; timeoutMs: number } {
  const address = sessionBusAddress(env);
  if (address !== undefined) return { address, timeoutMs: READ_TIMEOUT_MS };
  throw new StewardError('unavailable', `${who} can be asked over the session bus only, and there is none.`, {
    hint: 'A job must run inside the session, with its DBUS_SESSION_BUS_ADDRESS.',
  });
}

/**
 * An answer in JSON, whose titles are dropped while it is parsed: no object that holds one comes into being.
 *
 * @param isKept a key whose value may be kept; that of the answer itself is empty
 */
export function parseAnswer(
  text: string,
  isKept: (key: string) => boolean,
  { who, hint }: { who: string; hint: string },
): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text, (key, part: unknown) => (isKept(key) ? part : undefined));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // The parser's message quotes the text, and so perhaps a title: it is not passed on.
    throw new StewardError('unavailable', `${who} gave no readable answer.`, { hint });
  }
}
