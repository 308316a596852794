/** A frequently used command that runs without oclif and the configuration loader. */
export interface HotCommand {
  /**
   * Returns the exit code. If the full command must run instead, returns undefined or the arguments for that
   * command.
   */
  runHot: (argv: readonly string[]) => Promise<number | undefined | readonly string[]>;
}

/** The commands and their bundles. Hooks, shells and status lines run them very often. */
const BUNDLES: Readonly<Record<string, HotBundle>> = {
  hook: 'hook',
  statusline: 'statusline',
  'notify send': 'notify-send',
};

export type HotBundle = 'hook' | 'statusline' | 'notify-send';

export interface HotCall {
  bundle: HotBundle;
  /** The command's words, such as `notify send`. */
  words: readonly string[];
  /** The arguments after the words. */
  rest: readonly string[];
}

/** Returns the hot command in the arguments, if any. */
export function hotCall(argv: readonly string[]): HotCall | undefined {
  for (const length of [1, 2]) {
    const words = argv.slice(0, length);
    const bundle = BUNDLES[words.join(' ')];
    if (bundle !== undefined) return { bundle, words, rest: argv.slice(length) };
  }
  return undefined;
}

/** Runs a hot command. Returns the exit code, or the arguments for the full command if it must run instead. */
export async function runHot(call: HotCall, { runHot }: HotCommand): Promise<number | readonly string[]> {
  const { words, rest } = call;
  const result = await runHot(rest);
  return typeof result === 'number' ? result : [...words, ...(result ?? rest)];
}
