import { table } from '../../platform/terminal/format';
import { clean } from '../../platform/terminal/terminal';
import type { Installed } from './install';
import type { PurgePlan } from './purge';
import type { Uninstalled } from './uninstall';

/** `steward install` */
export function installedText(result: Installed): string {
  const { dryRun, hooks, jobs, completion, failed } = result;
  const lines = [
    ...(hooks === null ? [] : hooksLines(hooks)),
    ...jobs.map(({ job, scheduler, changed }) =>
      changed && dryRun
        ? `Would put ${job} into ${scheduler}`
        : `${job} is in ${scheduler}${changed ? '' : ' already'}`,
    ),
    ...(completion === null ? [] : completionLines(completion, dryRun)),
    ...byReason(failed).map(({ what, why }) => `${dryRun ? 'Cannot be' : 'Not'} installed: ${what}. ${why}`),
  ];
  if (lines.length === 0) return 'Nothing was chosen, and nothing installed.';
  const isAny = hooks !== null || jobs.length > 0 || completion !== null;
  return [
    ...lines.map(clean),
    ...(isAny && !dryRun ? ['"steward uninstall" takes all of it back.'] : []),
    ...(dryRun ? ['Nothing was written.'] : []),
  ].join('\n');
}

/** What fails for one reason stands in one line. */
function byReason(failed: Installed['failed']): { what: string; why: string }[] {
  return [...new Set(failed.map(({ why }) => why))].map((why) => ({
    what: failed.flatMap((part) => (part.why === why ? [part.what] : [])).join(', '),
    why,
  }));
}

function hooksLines(hooks: NonNullable<Installed['hooks']>): string[] {
  const { added, shim, settings, skill, dryRun } = hooks;
  const isNew = added.length > 0 || shim.written;
  const writesSkill = skill !== null && skill.changed.length > 0;
  return [
    isNew && dryRun
      ? `Would put hooks into ${settings}`
      : `Hooks are in ${settings}${isNew ? '' : ' already'}`,
    ...(skill === null
      ? []
      : [
          writesSkill && dryRun
            ? `Would write the work skill: ${skill.path}`
            : `The work skill is in ${skill.path}${writesSkill ? '' : ' already'}`,
        ]),
    ...(skill?.left ?? []).map((path) => `Left: ${path}: written or changed by somebody else since`),
  ];
}

function completionLines(completion: NonNullable<Installed['completion']>, dryRun: boolean): string[] {
  const { shell, path, changed, note } = completion;
  return [
    changed && dryRun
      ? `Would write ${path}, which completes steward in ${shell}`
      : `${shell} completes steward: ${path}${changed ? '' : ' (there already)'}`,
    ...(note === null ? [] : [note]),
  ];
}

/** `steward uninstall` */
export function uninstalledText({ dryRun, jobs, daemonStopped, hooks, files, left }: Uninstalled): string {
  const [took, removed, stopped] = dryRun
    ? ['Would take', 'Would remove', 'Would stop']
    : ['Took', 'Removed', 'Stopped'];
  const lines = [
    ...jobs.map(({ job, from }) => `${took} ${job} out of ${from.join(', ')}`),
    ...(daemonStopped ? [`${stopped} the daemon`] : []),
    ...hooks.settings
      .filter(({ entries, removed: gone }) => entries > 0 || gone)
      .map(({ path, entries }) => `${took} ${entries} hooks out of ${path}`),
    ...(hooks.shim.removed ? [`${removed} ${hooks.shim.path}`] : []),
    ...(hooks.skill.changed.length > 0 ? [`${removed} the work skill: ${hooks.skill.path}`] : []),
    ...files.map((path) => `${removed} ${path}`),
    ...left.map(({ what, why }) => `Left: ${what}: ${why}`),
    ...hooks.strangers.map((command) => `Left, of another user area: ${command}`),
  ];
  return lines.length === 0 ? 'Nothing of steward is installed.' : lines.map(clean).join('\n');
}

/** What a purge would remove. */
export function purgeText({ places, stays }: PurgePlan): string {
  if (places.length === 0) return 'No data of steward are on this machine.';
  const rows = places.map(({ path, files, bytes }) => [
    `  ${clean(path)}`,
    `${files} ${files === 1 ? 'file' : 'files'}`,
    size(bytes),
  ]);
  return [
    'This is removed for good:',
    ...table(rows, [{}, { align: 'right' }, { align: 'right' }])
      .split('\n')
      .flatMap((line, index) => [line, `    ${places[index]?.what ?? ''}`]),
    ...stays.map((path) => `Stays, since it is none of steward's: ${clean(path)}`),
  ].join('\n');
}

/** `12 KiB` */
function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes / 1024;
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; unit += 1) value /= 1024;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit] ?? ''}`;
}
