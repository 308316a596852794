import type { UserConfig, WorkConfig, WorkRepoConfig } from '../config/schema';
import { type UserArea, type Machine } from '../config/user-area';
import { withMachineLock } from '../platform/files/lock';
import type { Remote, RemoteGitDeps } from '../platform/process/git';
import type { Cache } from './cache';
import type { Host } from './host';

/** The result of a verification, as stored in work_repo.json. */
export interface Attestation {
  verifiedPrivate: boolean;
  visibility: string;
  verifiedAt: string;
  repo: string;
  repoId: number;
}

export interface WorkDeps extends Machine {
  paths: UserArea['work'];
  templates: string;
  /** Each access to `config`, `workRepo`, `daName`, `agents` and `timezone` reads the current value. */
  config: WorkConfig;
  workRepo: () => WorkRepoConfig;
  daName: string;
  yourName?: string | undefined;
  /** Everyone who can work on issues: the assistant, you, and the agents in the roster. */
  agents: readonly string[];
  timezone: UserConfig['timezone'];
  /** Returns the cached issues. Callers must not modify them. */
  cache: (repo: string) => Cache;
  host: () => Promise<Host>;
  attest: (attestation: Attestation) => Promise<void>;
  /** Stores the chosen repository and the result of its verification in work_repo.json. */
  choose: (repo: string, attestation: Attestation) => Promise<void>;
  sleep: (ms: number) => Promise<void>;
  /** How long GitHub's list may lag behind a new issue, in ms. */
  settleMs: number;
  git: RemoteGitDeps;
  /** Returns the clone URL and its credential. */
  remote: (repo: string) => Promise<Remote>;
}

/** A repository that steward may write to. */
export interface OpenRepo {
  deps: WorkDeps;
  host: Host;
  repo: string;
}

/** Runs a task while holding a machine-local lock. Throws `locked` if the lock is not acquired in time. */
export function withWorkLock<T>(
  machine: Machine,
  name: 'create' | 'claim' | 'tasklist' | 'reminders' | `issue-${string}`,
  work: () => Promise<T>,
  waitMs = 60_000,
): Promise<T> {
  return withMachineLock(machine, `work-${name}`, waitMs, work);
}
