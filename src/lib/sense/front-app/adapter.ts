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
   * it takes (an extension, a protocol, a program), and `unavailable` when it is all there and does not
   * answer; both with a hint.
   */
  read(desktop: Desktop): Promise<FrontApp | null>;
}

/** Every read is over after this long, whatever the desktop does. */
export const READ_TIMEOUT_MS = 3000;

/** The variable's value; undefined when it is missing or empty. */
export function envOf(desktop: Pick<Desktop, 'env'>, name: string): string | undefined {
  const value = desktop.env[name];
  return value === undefined || value === '' ? undefined : value;
}

/** The systems whose desktops are known by XDG and display variables: Linux and the BSDs. */
export function isXdgSystem(desktop: Pick<Desktop, 'platform'>): boolean {
  return desktop.platform !== 'win32' && desktop.platform !== 'darwin';
}

/** Is this a Wayland session? There, X11 knows only the windows of XWayland, and would say "none" too often. */
export function isWayland(desktop: Pick<Desktop, 'env' | 'platform'>): boolean {
  const named = envOf(desktop, 'WAYLAND_DISPLAY') !== undefined;
  return isXdgSystem(desktop) && (named || envOf(desktop, 'XDG_SESSION_TYPE')?.toLowerCase() === 'wayland');
}

/** The X display of an X11 session; undefined in a Wayland session, where it is XWayland's. */
export function x11Display(desktop: Pick<Desktop, 'env' | 'platform'>): string | undefined {
  return isXdgSystem(desktop) && !isWayland(desktop) ? envOf(desktop, 'DISPLAY') : undefined;
}

/** Does XDG_CURRENT_DESKTOP ("ubuntu:GNOME") name that desktop? */
export function isDesktop(desktop: Pick<Desktop, 'env'>, name: string): boolean {
  const named = envOf(desktop, 'XDG_CURRENT_DESKTOP')?.toLowerCase().split(':') ?? [];
  return named.includes(name.toLowerCase());
}
