import { join } from 'node:path';

import type { UserConfig, WorkConfig, WorkRepoConfig } from '../config/schema';
import type { UserArea } from '../config/user-area';
import { withLock } from '../platform/files/lock';
import type { Remote, RemoteGitDeps } from '../platform/process/git';
import type { Clock } from '../platform/time/clock';
import type { Cache } from './cache';
import type { Host } from './host';

/** What setup, verification and polls write into work_repo.json. */
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
  /** The folder of the templates that the package brings. */
  templates: string;
  /** As it is now, and so are the next four. */
  config: WorkConfig;
  workRepo: () => WorkRepoConfig;
  daName: string;
  /** Who may work on issues: the DA, the principal and the agents of the roster. */
  agents: readonly string[];
  timezone: UserConfig['timezone'];
  /** The cached state; `cacheReader` for those who ask often. What it gives is not changed by anybody. */
  cache: (repo: string) => Cache;
  host: () => Promise<Host>;
  attest: (attestation: Attestation) => Promise<void>;
  /** Writes the repository and its attestation into work_repo.json. */
  choose: (repo: string, attestation: Attestation) => Promise<void>;
  sleep: (ms: number) => Promise<void>;
  /** How long after a creation without an answer the list may still lack its issue, ms. */
  settleMs: number;
  git: RemoteGitDeps;
  /** Where the repository is cloned from, and with which credential. */
  remote: (repo: string) => Promise<Remote>;
}

/** The repository and its service, for those who write. */
export interface Open {
  deps: WorkDeps;
  host: Host;
  repo: string;
}

/** Does it as the only process of this machine; waits so long for another one, else `locked`. */
export function alone<T>(
  { area, clock, machineId }: Pick<WorkDeps, 'area' | 'clock' | 'machineId'>,
  name: 'create' | 'claim' | 'tasklist' | 'reminders',
  work: () => Promise<T>,
  waitMs = 60_000,
): Promise<T> {
  return withLock(join(area.machine, `work-${name}.lock`), { clock, machineId, waitMs }, work);
}
