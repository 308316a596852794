/**
 * Frequently used commands that run without oclif and the configuration loader. `run` returns the exit code.
 * If the full command must run instead, `run` returns undefined or the arguments for that command.
 */
const COMMANDS: Readonly<
  Record<string, () => Promise<{ run: (argv: readonly string[]) => Promise<HotResult> }>>
> = {
  hook: async () => ({ run: (await import('./lib/cli/hook-command')).runHot }),
  statusline: async () => ({ run: (await import('./lib/cli/statusline')).runHot }),
  'notify send': async () => ({ run: (await import('./lib/cli/notify-send-hot')).runHot }),
};

type HotResult = number | undefined | readonly string[];

/**
 * Runs a frequently used command without oclif. Returns the exit code, or the arguments for the full command
 * if it must run instead.
 */
export async function runHot(argv: readonly string[]): Promise<number | readonly string[]> {
  const words =
    [1, 2].map((length) => argv.slice(0, length)).find((some) => some.join(' ') in COMMANDS) ?? [];
  const load = COMMANDS[words.join(' ')];
  if (load === undefined) return argv;
  const result = await (await load()).run(argv.slice(words.length));
  if (typeof result === 'number') return result;
  return result === undefined ? argv : [...words, ...result];
}
