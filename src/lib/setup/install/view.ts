import type { PublishedPlace } from '../sync/leave';
import { plural, table } from '../../platform/terminal/format';
import { clean } from '../../platform/terminal/terminal';
import type { Installed, Uninstalled } from './parts';

export interface PurgePlan {
  places: { path: string; what: string; files: number; bytes: number }[];
  /** Files in the user area that steward did not create and does not delete. */
  stays: string[];
  /** What this machine published. A purge deletes it where it is reachable. */
  published: PublishedPlace[];
}

/** Formats how an install ended, after the texts of its parts. */
export function installedText({ dryRun, hooks, jobs, completion, failed }: Installed): string {
  const reasons = [...new Set(failed.map(({ why }) => why))];
  const failures = reasons.map((why) => {
    const parts = failed.flatMap((part) => (part.why === why ? [part.what] : []));
    return clean(`${dryRun ? 'Cannot install' : 'Not installed'}: ${parts.join(', ')}. ${why}`);
  });
  const isAny = hooks.length + jobs.length > 0 || completion !== null;
  if (!isAny && failures.length === 0) return 'Nothing was selected, so nothing was installed.';
  const last = dryRun ? ['Nothing was written.'] : isAny ? ['To undo: steward uninstall'] : [];
  return [...failures, ...last].join('\n');
}

export function leftText({ what, why }: Uninstalled['left'][number]): string {
  return clean(`Not removed: ${what}: ${why}`);
}

export function purgeText({ places, stays, published }: PurgePlan): string {
  if (places.length === 0) return 'steward has no data on this machine.';
  const rows = places.map(({ path, files, bytes }) => [
    `  ${clean(path)}`,
    plural(files, 'file'),
    size(bytes),
  ]);
  return [
    'This will be deleted:',
    ...table(rows, [{}, { align: 'right' }, { align: 'right' }])
      .split('\n')
      .flatMap((line, index) => [line, `    ${places[index]?.what ?? ''}`]),
    ...published.map(({ path, isReachable }) =>
      isReachable
        ? `  ${clean(path)}\n    published files`
        : `Not deleted, because it is not reachable: published files in ${clean(path)}`,
    ),
    ...stays.map((path) => `Not deleted, because it is not steward's: ${clean(path)}`),
  ].join('\n');
}

function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes / 1024;
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; unit += 1) value /= 1024;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit] ?? ''}`;
}
