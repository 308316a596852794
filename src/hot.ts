/** A frequently used command that runs without oclif and the configuration loader. */
export interface HotCommand {
  /**
   * Returns the exit code. If the full command must run instead, returns undefined or the arguments for that
   * command. `root` is the folder with package.json.
   */
  runHot: (rest: readonly string[], words: readonly string[], root: string) => Promise<HotResult>;
}

type HotResult = number | undefined | readonly string[];

/** The commands and their bundles. Hooks, shells and status lines run them very often; people start with the others. */
const BUNDLES: Readonly<Record<string, HotBundle>> = {
  hook: 'hook',
  statusline: 'statusline',
  'notify send': 'notify-send',
  '': 'overview',
  home: 'overview',
  status: 'overview',
  inbox: 'overview',
};

export type HotBundle = 'hook' | 'statusline' | 'notify-send' | 'overview';

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
export async function runHot(
  { words, rest }: HotCall,
  { runHot }: HotCommand,
  root: string,
): Promise<number | readonly string[]> {
  const result = await runHot(rest, words, root);
  return typeof result === 'number' ? result : [...words, ...(result ?? rest)];
}
