import type { Run, RunResult } from '../../src/lib/platform/process/process';
import { StewardError } from '../../src/lib/errors';
import type { Desktop } from '../../src/lib/sense/front-app/adapter';

/** What a program answers, by the command line that starts with the key. */
export type Answers = Readonly<Record<string, string | Partial<RunResult>>>;

/** A desktop whose programs give recorded output; a command line that is not recorded is a missing program. */
export function recordedDesktop(
  platform: NodeJS.Platform,
  answers: Answers,
  env: NodeJS.ProcessEnv = {},
): Desktop & { asked: string[] } {
  const asked: string[] = [];
  const run: Run = (file, args) => {
    const line = [file, ...args].join(' ');
    asked.push(line);
    const found = Object.entries(answers).find(([start]) => line.startsWith(start))?.[1];
    if (found === undefined) {
      return Promise.reject(new StewardError('not_found', `${file} is not installed or not on the PATH.`));
    }
    const result = { code: 0, signal: null, stdout: '', stderr: '', truncated: false, timedOut: false };
    return Promise.resolve({ ...result, ...(typeof found === 'string' ? { stdout: found } : found) });
  };
  return { platform, env, run, asked };
}
