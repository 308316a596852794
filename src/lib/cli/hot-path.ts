/**
 * Commands that hooks, shells and schedulers start all the time, answered before oclif is loaded. The
 * launcher looks here first; the build makes each `./hot/…` a small bundle of its own, so an entry costs
 * the others nothing. To add one: a file in `hot/` that exports `run`, and a row here. The full command
 * still exists in src/commands, for its help and for the calls that the hot one leaves to it.
 */
export interface HotCommand {
  /**
   * Answers the call and returns its exit code, or returns undefined, before it has any effect, to
   * leave the call to the full command (an unusual flag, `--help`). Words: the full command is to be
   * called with them in place of these.
   */
  run: (argv: readonly string[]) => HotResult | Promise<HotResult>;
}

type HotResult = number | undefined | readonly string[];

export interface HotEntry {
  /** The first words of the command line that this entry answers. */
  words: readonly string[];
  load: () => Promise<HotCommand>;
  /** Its bundle, where that is large enough to be worth its compiled code kept. */
  bundle?: string;
}

export const HOT: readonly HotEntry[] = [
  ...['--version', '-v', '-V', 'version'].map((word) => ({
    words: [word],
    load: () => import('./hot/version'),
  })),
  { words: ['hook'], load: () => import('./hot/hook'), bundle: './hot/hook.js' },
  { words: ['statusline'], load: () => import('./hot/statusline'), bundle: './hot/statusline.js' },
  {
    words: ['agents', 'route'],
    load: () => import('./hot/agents-route'),
    bundle: './hot/agents-route.js',
  },
  {
    words: ['notify', 'send'],
    load: () => import('./hot/notify-send'),
    bundle: './hot/notify-send.js',
  },
  { words: ['sense', 'version'], load: () => import('./hot/sense-version') },
];

/**
 * Runs the entry that answers this command line; when oclif has to, the command line for it.
 *
 * @param loadBundle loads a bundle of the build, with its compiled code
 */
export async function runHot(
  argv: readonly string[],
  table: readonly HotEntry[] = HOT,
  loadBundle?: (id: string) => unknown,
): Promise<number | readonly string[]> {
  const entry = table.find(({ words }) => words.every((word, index) => argv[index] === word));
  if (entry === undefined) return argv;
  const command =
    entry.bundle === undefined || loadBundle === undefined
      ? await entry.load()
      : (loadBundle(entry.bundle) as HotCommand);
  const result = (await command.run(argv.slice(entry.words.length))) ?? argv;
  return typeof result === 'number' || result === argv ? result : [...entry.words, ...result];
}
