import { StewardError } from '../errors';
import type { Run, RunResult } from '../platform/process/process';
import { clean } from '../platform/terminal/terminal';

const TIMEOUT_MS = 20_000;

/**
 * Runs a program of the system by its arguments, without a shell. One that is not installed answers with code 127;
 * one that hangs is `unavailable`.
 */
export async function tell(
  { run, env }: { run: Run; env: NodeJS.ProcessEnv },
  file: string,
  args: readonly string[],
  more: { input?: Buffer; encoding?: BufferEncoding } = {},
): Promise<RunResult> {
  try {
    const result = await run(file, args, { timeoutMs: TIMEOUT_MS, env, ...more });
    if (!result.timedOut) return result;
  } catch (error) {
    if (!(error instanceof StewardError) || error.kind !== 'not_found') throw error;
    return { code: 127, signal: null, stdout: '', stderr: error.message, truncated: false, timedOut: false };
  }
  throw new StewardError('unavailable', `${file} ${args[0] ?? ''} does not answer.`, {
    hint: 'Run it in a terminal to see what it waits for.',
  });
}

/** What a program said of its failure, as one line for a person. */
export function outputOf({ stdout, stderr, code }: RunResult): string {
  const said = clean((stderr.trim() === '' ? stdout : stderr).trim().replace(/\s+/g, ' '));
  return said === '' ? `it ended with code ${String(code)}` : said.slice(0, 500);
}
