import type { Run } from '../platform/process/process';
import type { PathHost } from '../platform/files/paths';
import type { EntryState, JobEntry } from './entry';
import type { Keeper } from './keeper';
import type { SchedulerKind } from './scheduler';

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
