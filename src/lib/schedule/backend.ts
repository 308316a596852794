import { StewardError } from '../errors';
import type { RunResult } from '../platform/process/process';
import { clean } from '../platform/terminal/terminal';
import type { SchedulerKind } from './job';
import type { BackendDeps, JobEntry } from './launcher';
import type { EntryFile, Recorder } from './recorder';

/** What a scheduler knows about an entry. How runs ended is in the launcher's record. */
export type EntryState = typeof NOT_INSTALLED;

export const NOT_INSTALLED = {
  installed: false,
  /** Whether the scheduler runs the job, now and after the next login. */
  loaded: false,
  /**
   * Whether the entry differs from what an install would write. For an entry that consists of files, always
   * false: status.ts compares the files with the install manifest.
   */
  edited: false,
};

/** A scheduler. To add one, write a factory and a line in `index.ts`. */
export interface Backend {
  kind: SchedulerKind;
  /** Returns evidence that the scheduler is usable, such as `cron is running`; undefined if it isn't. */
  probe: () => Promise<string | undefined>;
  /** Returns the closest interval that the scheduler supports, in seconds. */
  interval: (everySec: number) => number;
  /** Writes and loads the entry. If the scheduler rejects the entry, undoes the changes and throws. */
  install: (entry: JobEntry, recorder: Recorder) => Promise<InstalledEntry>;
  /** Unloads and removes the entry; returns the removed files. */
  uninstall: (name: string, recorder: Recorder) => Promise<string[]>;
  /** Starts a run now. Throws if the scheduler can't start it. */
  start: (entry: JobEntry) => Promise<void>;
  /** Returns whether the entry exists; false on a platform without this scheduler. */
  holds: (name: string) => Promise<boolean>;
  state: (entry: JobEntry) => Promise<EntryState>;
}

export interface InstalledEntry {
  changed: boolean;
  files: string[];
  warnings: string[];
}

/**
 * Writes an entry's files and loads the entry. Unloads an entry before changing its files: a loaded entry therefore
 * matches its files, even if an install was killed.
 */
export async function installFiles(
  files: readonly EntryFile[],
  recorder: Recorder,
  steps: {
    isLoaded: () => Promise<boolean>;
    /** Loads the entry; returns warnings. */
    load: () => Promise<string[]>;
    unload: () => Promise<unknown>;
  },
): Promise<InstalledEntry> {
  const paths = files.map(({ path }) => path);
  const isChanged = files.some((file) => recorder.differs(file));
  if (isChanged) await steps.unload();
  for (const file of files) recorder.write(file);
  if (!isChanged && (await steps.isLoaded())) return { changed: false, files: paths, warnings: [] };
  try {
    return { changed: true, files: paths, warnings: await steps.load() };
  } catch (error) {
    await steps.unload();
    for (const path of paths) recorder.remove(path);
    throw error;
  }
}

type Tools = Pick<BackendDeps, 'run' | 'env'>;

interface ToolOptions {
  input?: Buffer;
  encoding?: BufferEncoding;
}

const TIMEOUT_MS = 20_000;

/**
 * Runs a system program. Returns exit code 127 if the program is missing. Throws `unavailable` if the program
 * hangs.
 */
export async function callTool(
  { run, env }: Tools,
  file: string,
  args: readonly string[],
  options: ToolOptions = {},
): Promise<RunResult> {
  try {
    const result = await run(file, args, { timeoutMs: TIMEOUT_MS, env, ...options });
    if (!result.timedOut) return result;
  } catch (error) {
    if (!(error instanceof StewardError) || error.kind !== 'not_found') throw error;
    return { code: 127, signal: null, stdout: '', stderr: error.message, truncated: false, timedOut: false };
  }
  throw new StewardError('unavailable', `${file} ${args[0] ?? ''} did not respond within 20 s.`, {
    hint: 'Run the command in a terminal to see why.',
  });
}

/** Runs a system program. If that fails, throws `unavailable` with this message and the program's output. */
export async function requireTool(
  deps: Tools,
  { message, hint }: { message: string; hint?: string | undefined },
  [file, ...args]: readonly [string, ...string[]],
  options: ToolOptions = {},
): Promise<void> {
  const result = await callTool(deps, file, args, options);
  if (result.code === 0) return;
  throw new StewardError('unavailable', `${message}: ${outputOf(result)}`, { hint });
}

export function outputOf({ stdout, stderr, code }: RunResult): string {
  const output = clean((stderr.trim() === '' ? stdout : stderr).trim().replace(/\s+/g, ' '));
  return output === '' ? `exit code ${String(code)}` : output.slice(0, 500);
}

export function xmlText(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
