/** What the snippets are made with. */
export interface HookSettings {
  /** A command has to take so long to be told of, s; the shell's STEWARD_LONG_COMMAND_SEC stands over it. */
  longSec: number;
  /** The words that start steward. */
  steward: readonly string[];
}
