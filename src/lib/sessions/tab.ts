import type { ProcessView } from '../platform/process/process-view';
import type { TerminalDeps } from './terminals';

/** A process on a terminal. */
export interface HeldTerminal {
  tty: string;
  pid: number;
  /** The socket that kitty named to the session's hook. */
  kittySocket?: string | null;
}

/** A tab or pane of a program that shows terminals. */
export interface Tab {
  /** The program's id of the tab or pane, such as `%3` or `7`. */
  target: string;
  /** Device path of the terminal in it. */
  tty: string | undefined;
  label?: string;
  /**
   * Shows it. Returns false if it is gone, and the program's own terminal if that must be shown as well.
   */
  focus: () => Promise<HeldTerminal | boolean>;
}

export interface TabDeps extends TerminalDeps {
  processes: ProcessView;
}

/**
 * A program that shows terminals. `list` returns the tabs that may have the held terminal. It throws
 * `unavailable` if the program is running but doesn't tell.
 */
export interface TabProgram {
  id: string;
  list: (deps: TabDeps, held: HeldTerminal) => Promise<Tab[]>;
}
