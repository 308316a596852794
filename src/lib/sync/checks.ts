import { failed, off, ok, warning, type Check, type Finding } from '../platform/check';
import { forShell } from '../platform/process/spawn';
import { plural } from '../platform/terminal/format';
import type { Day } from '../platform/time/time';
import type { SyncStatus } from './status';

export interface SyncChecked {
  /** Checks every file in the exchange folder. */
  syncStatus: () => Promise<SyncStatus>;
}

export const SYNC_CHECKS: readonly Check<SyncChecked>[] = [
  { id: 'sync.folder', title: 'the exchange folder', needsConfig: true, run: checkFolder },
];

const OLD_DAYS = 7;

type Pending = Pick<
  SyncStatus,
  'folder' | 'pendingRemovals' | 'pendingFormer' | 'details' | 'publishedDetails'
>;

/** Describes published data that must still be removed, and how to remove it. */
export function pendingTexts(status: Pending): { text: string; fix: string; hint?: string }[] {
  const { folder, pendingRemovals, pendingFormer, details, publishedDetails } = status;
  const isShown = publishedDetails === true && !details;
  return [
    ...(folder === null || pendingRemovals === 0
      ? []
      : [{ text: 'purged data is still published', fix: `steward sync setup ${forShell(folder)}` }]),
    ...(isShown ? [{ text: 'details are still published', fix: 'steward sync setup --no-details' }] : []),
    ...pendingFormer.map((former) => ({
      text: `purged data is still in ${former}`,
      ...howToPurge(former),
    })),
  ];
}

/** Returns how to remove purged data from a former folder or git repository. */
function howToPurge(former: string): { hint: string; fix: string } {
  return {
    hint: 'To delete what this machine published there (without --remove if it no longer exists):',
    fix: `steward sync leave ${forShell(former)} --remove`,
  };
}

/** Names a folder or git repository where published files remain, and how to delete them. */
export function remainsText(place: string): string {
  return `Published files remain in ${place}. To delete them: steward sync leave ${forShell(place)} --remove`;
}

/** Names the former folders and git repositories from which purged data was not removed yet. */
export function formerTexts(pendingFormer: readonly string[]): string[] {
  return pendingFormer.map((former) => {
    const { hint, fix } = howToPurge(former);
    return `Purged data is still in ${former}. ${hint} ${fix}`;
  });
}

/** Names the days that this machine has lost in part since it published them. */
export function keptText(kept: readonly Day[]): string {
  const first = kept[0] ?? '';
  const days = kept.length === 1 ? first : `${plural(kept.length, 'day')} since ${first}`;
  return `Part of ${days} is missing on this machine; reports use what it published before. Was a backup restored?`;
}

/** Describes the unreadable files in the exchange folder, or returns undefined if there are none. */
export function damagedText({ damaged }: Pick<SyncStatus, 'damaged'>): string | undefined {
  const [first] = damaged;
  if (first === undefined) return undefined;
  const more = damaged.length - 1;
  return `${first.path}: ${first.reason}${more === 0 ? '' : `, and ${plural(more, 'more unreadable file')}`}`;
}

async function checkFolder({ syncStatus }: SyncChecked): Promise<Finding[]> {
  const status = await syncStatus();
  const { folder, problem, hint, machines, conflicts, damaged, engine } = status;
  const pending = pendingTexts(status).map(({ text, ...how }) => warning(text, how));
  if (folder === null)
    return [off('not set; to use several machines, run "steward sync setup FOLDER"'), ...pending];
  if (problem !== null) return [failed(problem, hint === null ? {} : { hint }), ...pending];
  const old = machines.filter(
    ({ isThis, leftAt, daysBehind }) => !isThis && leftAt === null && daysBehind >= OLD_DAYS,
  );
  const findings: Finding[] = [
    ...(engine?.problem === true
      ? [warning(`${engine.engine}: ${engine.found}`, { fix: 'steward sync status' })]
      : []),
    ...pending,
    ...old.map(({ name, daysBehind }) =>
      warning(`${name} was last seen ${plural(daysBehind, 'day')} ago`, {
        hint: 'Check the sync tool on that machine. If you no longer have the machine:',
        fix: 'steward sync forget MACHINE',
      }),
    ),
    ...conflicts.slice(0, 1).map((path) =>
      warning(`${plural(conflicts.length, 'conflict copy', 'conflict copies')}, such as ${path}`, {
        hint: 'Delete the conflict copies, which steward ignores. If they reappear, two machines have the same id.',
      }),
    ),
    ...damaged.slice(0, 5).map(({ path, reason }) =>
      warning(`${path}: ${reason}`, {
        hint: 'The other machine rewrites the file within a day. If the file needs a newer steward, upgrade steward on this machine.',
      }),
    ),
  ];
  if (findings.length > 0) return findings;
  return [ok(`${folder}, ${plural(machines.length, 'machine')}`)];
}
