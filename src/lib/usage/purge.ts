import { join } from 'node:path';

import { daysIn } from '../platform/files/day-files';
import { withLock } from '../platform/files/lock';
import { isInRange, type DayRange } from '../platform/time/period';
import type { Day } from '../platform/time/time';
import { collectUsage, storeLedger, type UsageDeps } from './collect';
import { readDayRows, writeDay } from './days';
import { forget, readLedger } from './ledger';

/** Filters for the usage to remove. Without a filter, all usage is removed. */
export interface UsageSelection extends DayRange {
  /** Names of a repository. */
  repos?: readonly string[];
}

const LOCK_WAIT_MS = 10_000;

/**
 * Removes stored usage and returns the affected days. First reads the logs and remembers their entries, so
 * that later runs don't count them again.
 */
export async function purgeUsage(
  deps: UsageDeps,
  selection: UsageSelection,
  { dryRun, readsLogs }: { dryRun: boolean; readsLogs: boolean },
): Promise<Day[]> {
  if (!dryRun && readsLogs) await collectUsage(deps);
  const wanted = selection.repos?.map((name) => name.toLowerCase());
  const isRepo = (repo: string | null): boolean =>
    wanted === undefined || (repo !== null && wanted.includes(repo.toLowerCase()));
  const isHit = (day: Day): boolean => {
    let isDamaged = false;
    const rows = readDayRows(deps.days, day, () => (isDamaged = true));
    return isInRange(selection, day) && (isDamaged || rows.some(({ repo }) => isRepo(repo)));
  };
  const days = daysIn(deps.days).filter(isHit);
  if (dryRun || days.length === 0) return days;
  const lock = { clock: deps.clock, machineId: deps.machineId, waitMs: LOCK_WAIT_MS };
  await withLock(join(deps.state, 'usage.lock'), lock, () => {
    // Update the ledger first. If this purge is interrupted, the next purge still finds the days.
    const ledger = readLedger(deps.state);
    forget(ledger, (day, [, , repo]) => isInRange(selection, day) && isRepo(repo));
    storeLedger(deps, ledger, '');
    for (const day of days) {
      const rows = readDayRows(deps.days, day);
      writeDay(deps.days, day, rows.filter(({ repo }) => !isRepo(repo))); // prettier-ignore
    }
  });
  return days;
}
