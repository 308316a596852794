import type { Desktop } from '../front-app/adapter';

export interface Idle {
  /** Milliseconds since the last input; undefined when this adapter cannot tell. */
  idleMs?: number;
  /** The screen is locked; undefined when this adapter cannot tell. */
  locked?: boolean;
}

export interface IdleAdapter {
  /** x11, mutter, screensaver, logind, macos, windows. */
  id: string;
  detect(desktop: Desktop): boolean;
  /** Throws `unavailable` when it should work here and does not. What it cannot tell, it leaves out. */
  read(desktop: Desktop): Promise<Idle>;
}
