import { StewardError } from '../errors';
import type { PathHost } from '../platform/files/paths';
import type { Run, RunResult } from '../platform/process/process';
import { clean } from '../platform/terminal/terminal';
import type { Job, SchedulerKind } from './job';
import type { Keeper } from './keeper';

/** What a scheduler of the system is spoken to with. */
export interface BackendDeps {
  run: Run;
  host: Pick<PathHost, 'platform' | 'home' | 'env'>;
  /** The environment of the scheduler's own programs. */
  env: NodeJS.ProcessEnv;
  /** The numeric id of this user; -1 on Windows. */
  userId: number;
  keep: { exists: (path: string) => boolean };
  /** Starts a program, and leaves it. */
  start: (file: string, args: readonly string[]) => void;
  wait: (ms: number) => Promise<void>;
  /** A folder of this machine's state, for what a scheduler is given as a file. */
  stateFolder: string;
  /** The names of the processes that run now; none where that cannot be seen. */
  processNames: () => ReadonlySet<string>;
}

/** One of the schedulers. A new one is a file with such a factory, and a line in `index.ts`. */
export interface Backend {
  kind: SchedulerKind;
  /** Why it can be used here, for a person; undefined where it cannot. */
  probe: () => Promise<string | undefined>;
  /** The interval that it has for one that is asked for, s. */
  keeps: (everySec: number) => number;
  /** Writes and loads the entry; where the scheduler refuses it, takes all back and throws. */
  install: (
    entry: JobEntry,
    keeper: Keeper,
  ) => Promise<{ changed: boolean; files: string[]; warnings: string[] }>;
  /** Unloads and removes the entry; the files that were removed, none when it was not there. */
  uninstall: (name: string, keeper: Keeper) => Promise<string[]>;
  /** Starts a run of an entry that stands there now; where the scheduler refuses, throws. */
  start: (entry: JobEntry) => Promise<void>;
  /** Does an entry of this name stand there? False too where it cannot be asked, or is none of this platform. */
  holds: (name: string) => Promise<boolean>;
  state: (entry: JobEntry) => Promise<EntryState>;
}

/** A job as it is to stand in a scheduler: what all renderings are made of. */
export interface JobEntry {
  job: Job;
  /** Its name there, one for each user area of the machine: `steward-sense`, `steward-0a1b2c3d-sense`. */
  name: string;
  /** The launcher, absolute; its one argument is the id of the job. */
  launcher: string;
  /** What the job finds in its environment, over what the scheduler gives it. */
  env: Readonly<Record<string, string>>;
  /** The file that its output goes to, absolute; the launcher writes it. */
  log: string;
}

/** What a scheduler tells of an entry. Times are ISO-8601 UTC; null: not told. */
export interface EntryState {
  /** Is the entry there? */
  installed: boolean;
  /** Does the scheduler know it? */
  loaded: boolean;
  nextRun: string | null;
  lastRun: string | null;
  lastExit: number | null;
  /** How often it stands there. */
  copies: number;
  /** It is switched off there; where it is loaded all the same, it is so until the next login. */
  disabled: boolean;
  /** What stands there is not what an install writes. Of files that is told by the install manifest instead. */
  edited: boolean;
}

export const NOT_THERE: EntryState = {
  installed: false,
  loaded: false,
  nextRun: null,
  lastRun: null,
  lastExit: null,
  copies: 0,
  disabled: false,
  edited: false,
};

/** Text in an element or an attribute of XML. */
export function xmlText(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

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
