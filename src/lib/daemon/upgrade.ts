import type { Job } from './jobs';

export interface UpgradeDeps {
  /** Of this process. */
  version: string;
  installedVersion: () => string | undefined;
  /** Is nothing being answered or done? */
  isIdle: () => boolean;
  end: (ending: 'outdated') => void;
  /** How often to look. */
  lookSec?: number;
}

/** The id of the job. */
export const UPGRADE_JOB = 'upgrade';
const LOOK_SEC = 30;

/**
 * Ends a daemon of another version than the installed one, to be started anew. It has to see the same other
 * version twice in a row, since an installation replaces its files one by one, and to have nothing to do.
 */
export function upgradeJob({ version, installedVersion, isIdle, end, lookSec = LOOK_SEC }: UpgradeDeps): Job {
  let seen: string | undefined;
  return {
    id: UPGRADE_JOB,
    everySec: () => lookSec,
    run: () => {
      const installed = installedVersion();
      const isOther = installed !== undefined && installed !== version;
      const isSettled = isOther && installed === seen;
      seen = isOther ? installed : undefined;
      if (!isOther) return Promise.resolve(undefined);
      if (isSettled && isIdle()) end('outdated');
      return Promise.resolve(
        `version ${installed} is installed; this one, ${version}, restarts when it is idle`,
      );
    },
  };
}
