/**
 * The commands that hooks, shells and status lines start very often, run without oclif and the configuration loader.
 * Each returns its exit code. Before it has any effect it may return undefined or other arguments instead, and the full
 * command in src/commands runs.
 */
const COMMANDS: Readonly<
  Record<string, () => Promise<{ run: (argv: readonly string[]) => Promise<HotResult> }>>
> = {
  hook: async () => ({ run: (await import('./lib/cli/hook-command')).runHot }),
  statusline: async () => ({ run: (await import('./lib/cli/statusline')).runHot }),
  'notify send': async () => ({ run: (await import('./lib/cli/notify-send-hot')).runHot }),
};

export type HotResult = number | undefined | readonly string[];

/** Returns the exit code, or the command line that the full command must run. */
export async function runHot(argv: readonly string[]): Promise<number | readonly string[]> {
  const words =
    [1, 2].map((length) => argv.slice(0, length)).find((some) => some.join(' ') in COMMANDS) ?? [];
  const load = COMMANDS[words.join(' ')];
  if (load === undefined) return argv;
  const result = await (await load()).run(argv.slice(words.length));
  if (typeof result === 'number') return result;
  return result === undefined ? argv : [...words, ...result];
}
