import { join } from 'node:path';

import type { UserConfig, WorkConfig, WorkRepoConfig } from '../config/schema';
import type { UserArea } from '../config/user-area';
import { withLock } from '../platform/files/lock';
import type { Remote, RemoteGitDeps } from '../platform/process/git';
import type { Clock } from '../platform/time/clock';
import type { Cache } from './cache';
import type { Host } from './host';

/** What a verification writes into work_repo.json. */
export interface Attestation {
  verifiedPrivate: boolean;
  visibility: string;
  verifiedAt: string;
  repo: string;
  repoId: number;
}

/** What work tracking needs of the configuration, the machine and the service. */
export interface WorkDeps {
  clock: Clock;
  area: UserArea;
  /** `area.work` */
  paths: UserArea['work'];
  machineId: string;
  /** The folder of the package's templates. */
  templates: string;
  /** The current value, as are the next four. */
  config: WorkConfig;
  workRepo: () => WorkRepoConfig;
  daName: string;
  /** Who may work on issues: the assistant, the person and the agents of the roster. */
  agents: readonly string[];
  timezone: UserConfig['timezone'];
  /** Reads the cached issues, which callers must not change. */
  cache: (repo: string) => Cache;
  host: () => Promise<Host>;
  attest: (attestation: Attestation) => Promise<void>;
  /** Writes the repository and its attestation into work_repo.json. */
  choose: (repo: string, attestation: Attestation) => Promise<void>;
  sleep: (ms: number) => Promise<void>;
  /** How long GitHub's list may lag behind a creation, ms. */
  settleMs: number;
  git: RemoteGitDeps;
  /** The clone URL and its credential. */
  remote: (repo: string) => Promise<Remote>;
}

/** A repository that may be written to. */
export interface Open {
  deps: WorkDeps;
  host: Host;
  repo: string;
}

/** Runs a task while holding a lock of this machine; throws `locked` after the wait. */
export function withWorkLock<T>(
  { area, clock, machineId }: Pick<WorkDeps, 'area' | 'clock' | 'machineId'>,
  name: 'create' | 'claim' | 'tasklist' | 'reminders',
  work: () => Promise<T>,
  waitMs = 60_000,
): Promise<T> {
  return withLock(join(area.machine, `work-${name}.lock`), { clock, machineId, waitMs }, work);
}
