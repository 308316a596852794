/**
 * The commands that hooks, shells and status lines start all the time, answered without oclif and without the loader of
 * the configuration. Each answers with its exit code; or, before it has any effect, with undefined (an unusual flag,
 * `--help`), or with other words of its own, and leaves the call to the full command in src/commands.
 */
const COMMANDS: Readonly<
  Record<string, () => Promise<{ run: (argv: readonly string[]) => Promise<HotResult> }>>
> = {
  hook: async () => ({ run: (await import('./lib/cli/hook-command')).runHot }),
  statusline: async () => ({ run: (await import('./lib/cli/statusline')).runHot }),
  'notify send': async () => ({ run: (await import('./lib/cli/notify-send-hot')).runHot }),
};

export type HotResult = number | undefined | readonly string[];

/** The exit code; or, when the full command has to run, the command line for it. */
export async function runHot(argv: readonly string[]): Promise<number | readonly string[]> {
  const words =
    [1, 2].map((length) => argv.slice(0, length)).find((some) => some.join(' ') in COMMANDS) ?? [];
  const load = COMMANDS[words.join(' ')];
  if (load === undefined) return argv;
  const result = await (await load()).run(argv.slice(words.length));
  if (typeof result === 'number') return result;
  return result === undefined ? argv : [...words, ...result];
}
