import { run as realRun, type Run } from '../../src/lib/platform/process/process';
import { gitSource, type GitSourceDeps } from '../../src/lib/sense/git';
import type { Collected } from '../../src/lib/sense/source';

/** The day of the tests, and its noon in seconds. */
export const DAY = Date.parse('2026-03-10T00:00:00Z');
export const NOON = DAY / 1000 + 12 * 3600;

export interface CaptureTime {
  nowMs?: number;
  dayStartMs?: number;
}

/** A git source with its cursor, which goes through JSON between captures, as it is stored. */
export interface Watch {
  capture(time?: CaptureTime): Promise<Collected>;
  /** A capture; the subjects of what was new, oldest first. */
  subjects(time?: CaptureTime): Promise<string[]>;
  /** The command lines of git since the start, overrides left out. */
  runs: string[];
  config: { repos: string[]; git: { authors: 'mine' | 'all' | string[] } };
  cursor: unknown;
}

export interface WatchOptions extends Partial<GitSourceDeps> {
  /** Called before each git process with its command line. */
  before?: (line: string) => void;
}

export function watchGit(repos: string[], options: WatchOptions = {}): Watch {
  const { before, run: runWith = realRun, ...deps } = options;
  const run: Run = (file, args, runOptions) => {
    const line = args.filter((arg, i) => arg !== '-c' && args[i - 1] !== '-c').join(' ');
    watched.runs.push(line);
    before?.(line);
    return runWith(file, args, runOptions);
  };
  const config: Watch['config'] = { repos, git: { authors: 'mine' } };
  const source = gitSource({ machineId: 'm1', config, ...deps, run });
  const watched: Watch = {
    runs: [],
    config,
    cursor: undefined,
    async capture({ nowMs = (NOON + 3600) * 1000, dayStartMs = DAY } = {}) {
      const got = await source.collect({ nowMs, dayStartMs, cursor: watched.cursor });
      watched.cursor = JSON.parse(JSON.stringify(got.cursor));
      return got;
    },
    async subjects(time) {
      return (await watched.capture(time)).events.map((event) => String(event.detail?.['subject']));
    },
  };
  return watched;
}
