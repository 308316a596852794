import type { PublishedPlace } from '../sync/leave';
import { plural, table } from '../../platform/terminal/format';
import { clean } from '../../platform/terminal/terminal';
import type { Installed } from './install';
import type { Uninstalled } from './uninstall';

interface PurgePlace {
  path: string;
  what: string;
  files: number;
  bytes: number;
}

export interface PurgePlan {
  places: PurgePlace[];
  /** Files in the user area that steward did not create and does not delete. */
  stays: string[];
  /** What this machine published. A purge deletes it where it is reachable. */
  published: PublishedPlace[];
}

export function installedText({ dryRun, hooks, jobs, completion, failed }: Installed): string {
  const done = (isNew: boolean, what: string): string => {
    if (!isNew) return `Already installed: ${what}`;
    return `${dryRun ? 'Would install' : 'Installed'}: ${what}`;
  };
  const lines = [
    ...(hooks === null
      ? []
      : [
          done(hooks.added.length > 0 || hooks.shim.written, `hooks in ${hooks.settings}`),
          ...hooks.more.map(({ added, settings }) => done(added.length > 0, `hooks in ${settings}`)),
          ...(hooks.skill === null
            ? []
            : [
                done(hooks.skill.changed.length > 0, `work skill in ${hooks.skill.path}`),
                ...hooks.skill.left.map((path) => `Not changed: ${path} (edited since it was installed)`),
              ]),
        ]),
    ...jobs.map(({ job, scheduler, changed }) => done(changed, `${job} in ${scheduler}`)),
    ...(completion === null
      ? []
      : [
          done(completion.changed, `${completion.shell} completion in ${completion.path}`),
          ...(completion.note === null ? [] : [completion.note]),
        ]),
  ];
  const reasons = [...new Set(failed.map(({ why }) => why))];
  const failures = reasons.map((why) => {
    const parts = failed.flatMap((part) => (part.why === why ? [part.what] : []));
    return `${dryRun ? 'Cannot install' : 'Not installed'}: ${parts.join(', ')}. ${why}`;
  });
  if (lines.length + failures.length === 0) return 'Nothing was selected, so nothing was installed.';
  return [
    ...[...lines, ...failures].map(clean),
    ...(lines.length > 0 && !dryRun ? ['To undo: steward uninstall'] : []),
    ...(dryRun ? ['Nothing was written.'] : []),
  ].join('\n');
}

export function uninstalledText({ dryRun, jobs, daemonStopped, hooks, files, left }: Uninstalled): string {
  const removed = dryRun ? 'Would remove' : 'Removed';
  const lines = [
    ...jobs.map(({ job, from }) => `${removed} ${job} from ${from.join(', ')}`),
    ...(daemonStopped ? [`${dryRun ? 'Would stop' : 'Stopped'} the daemon`] : []),
    ...hooks.settings
      .filter(({ entries, removed: isGone }) => entries > 0 || isGone)
      .map(({ path, entries }) => `${removed} ${plural(entries, 'hook')} from ${path}`),
    ...(hooks.shim.removed ? [`${removed} ${hooks.shim.path}`] : []),
    ...(hooks.skill.changed.length > 0 ? [`${removed} the work skill: ${hooks.skill.path}`] : []),
    ...files.map((path) => `${removed} ${path}`),
    ...left.map(leftText),
    ...hooks.strangers.map((command) => `Not removed, because it belongs to another user area: ${command}`),
  ];
  return lines.length === 0 ? 'Nothing is installed.' : lines.map(clean).join('\n');
}

export function leftText({ what, why }: Uninstalled['left'][number]): string {
  return `Not removed: ${what}: ${why}`;
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
