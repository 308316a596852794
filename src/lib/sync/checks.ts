import { failed, off, ok, warning, type Check, type Finding } from '../platform/check';
import { plural } from '../platform/terminal/format';
import type { SyncStatus } from './status';

export interface SyncChecked {
  /** Checks every file in the exchange folder. */
  syncStatus: () => Promise<SyncStatus>;
}

export const SYNC_CHECKS: readonly Check<SyncChecked>[] = [
  { id: 'sync.folder', title: 'the exchange folder', needsConfig: true, limitMs: 60_000, run: checkFolder },
];

const OLD_DAYS = 7;

/** Describes published data that must still be removed. `mend` is the command that removes it. */
export function pendingTexts({
  folder,
  pendingRemovals,
  pendingAdopted,
  details,
  publishedDetails,
}: Pick<SyncStatus, 'folder' | 'pendingRemovals' | 'pendingAdopted' | 'details' | 'publishedDetails'>): {
  text: string;
  mend: string;
}[] {
  const again = `steward sync set ${folder ?? ''}`;
  const isShown = publishedDetails === true && !details;
  return [
    ...(pendingRemovals === 0 ? [] : [{ text: 'purged data is still published', mend: again }]),
    ...(isShown ? [{ text: 'details are still published', mend: 'steward sync details off' }] : []),
    ...pendingAdopted.map((id) => ({
      text: `data of the adopted machine ${id} is still published`,
      mend: again,
    })),
  ];
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
  if (folder === null) return [off('not set; to use several machines, run "steward sync set FOLDER"')];
  if (problem !== null) return [failed(problem, hint === null ? {} : { hint })];
  const old = machines.filter(({ isThis, daysBehind }) => !isThis && daysBehind >= OLD_DAYS);
  const findings: Finding[] = [
    ...(engine?.problem === true
      ? [warning(`${engine.engine}: ${engine.found}`, { mend: 'steward sync status' })]
      : []),
    ...pendingTexts(status).map(({ text, mend }) => warning(text, { mend })),
    ...old.map(({ name, daysBehind }) =>
      warning(`${name} was last seen ${plural(daysBehind, 'day')} ago`, {
        hint: 'Check the sync tool on that machine. If you no longer have the machine:',
        mend: 'steward sync forget MACHINE',
      }),
    ),
    ...(conflicts.length === 0
      ? []
      : [
          warning(
            `${plural(conflicts.length, 'conflict copy', 'conflict copies')}, such as ${conflicts[0] ?? ''}`,
            {
              hint: 'Delete the conflict copies, which steward ignores. If they reappear, two machines have the same id.',
            },
          ),
        ]),
    ...damaged.slice(0, 5).map(({ path, reason }) =>
      warning(`${path}: ${reason}`, {
        hint: 'The other machine rewrites the file within a day. If the file needs a newer steward, upgrade steward on this machine.',
      }),
    ),
  ];
  if (findings.length > 0) return findings;
  return [ok(`${folder}, ${plural(machines.length, 'machine')}`)];
}
