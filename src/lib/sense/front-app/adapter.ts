import type { Run } from '../../platform/process';

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
  /** Stored as `detail.via`: x11, sway, wlroots, kwin, gnome, hyprland, macos, windows. */
  id: string;
  /** Cheap and without side effects: does the environment say that this desktop runs here? */
  detect(desktop: Desktop): boolean;
  /**
   * The front application, or null when none has the focus. Throws `unavailable` (with a hint) when this
   * desktop is here and does not answer or needs something installed.
   */
  read(desktop: Desktop): Promise<FrontApp | null>;
}
