import type { SharedValue } from '../platform/files/shared-group';
import { forShell } from '../platform/process/spawn';
import { minutes, palette, plural, table, type Palette } from '../platform/terminal/format';
import type { Terminal } from '../platform/terminal/stdio';
import { truncated } from '../platform/terminal/terminal';
import { isDay } from '../platform/time/time';
import { formerTexts } from './checks';
import type { MachineRead } from './format';
import type { PlannedFile } from './publish';
import { SHARED_FILE } from './settings';
import type { EngineStatus, MachineStatus, SyncStatus } from './status';

export function planOf(
  files: readonly PlannedFile[],
  head: { folder: string | null; machine: string; details: boolean },
) {
  const sum = (list: readonly PlannedFile[]) => ({
    files: list.length,
    bytes: list.reduce((bytes, file) => bytes + file.bytes, 0),
  });
  return {
    ...head,
    files: files.map(({ path, bytes, change }) => ({ path, bytes, change })),
    total: sum(files.filter(({ change }) => change !== 'removed')),
    changed: sum(files.filter(({ change }) => change !== 'none')),
  };
}

/** The output of `steward sync setup --dry-run --json`. */
export type SyncPlan = ReturnType<typeof planOf>;

export function planText({ folder, machine, details, files, total, changed }: SyncPlan): string {
  const rows = files
    .filter(({ change }) => change !== 'none')
    .map(({ path, bytes, change }) => [`${machine}/${path}`, String(bytes), change]);
  const lines = [
    ...(rows.length === 0 ? [] : [table(rows, [{}, { align: 'right' }]), '']),
    `${plural(changed.files, 'file')} to write, ${plural(changed.bytes, 'byte')}; ${plural(total.files, 'file')} in total, ${plural(total.bytes, 'byte')}.`,
    details
      ? 'Includes commit subjects, paths and session titles.'
      : 'Excludes commit subjects, paths and session titles.',
    folder === null
      ? 'No exchange folder is set, so nothing is published. Set one: steward sync setup FOLDER'
      : `Folder: ${folder}`,
  ];
  return lines.join('\n');
}

const NO_ROWS =
  'Sessions that wait do not come through git, because steward would have to ask its host every few seconds. To see them by ssh: steward sync connect ssh HOST';
const MAX_LISTED = 10;

type LocalTime = (iso: string) => string;

export function statusText(status: SyncStatus, localTime: LocalTime, terminal: Terminal): string {
  const { folder, problem, hint, pendingRemovals, machines, sameNames, settings } = status;
  const { conflicts, damaged, engine } = status;
  const former = formerTexts(status.pendingFormer);
  if (folder === null)
    return ['No exchange folder is set. Set one: steward sync setup FOLDER', ...former].join('\n');
  const colors = palette(terminal);
  const rows = machines.map((machine) => [
    machine.name,
    // A narrow terminal has no room for ids.
    ...(terminal.columns < 80 ? [] : [machine.id]),
    stateText(machine),
    `written ${localTime(machine.lastSeen)}`,
    machine.days === 0 ? 'no days' : `${plural(machine.days, 'day')} since ${machine.from ?? ''}`,
  ]);
  const twins = `${new Intl.ListFormat('en').format(sameNames)} have the same name. To change one, run on that machine: steward sync rename NAME`;
  const lines = [
    `${folder} (${detailsText(status)})`,
    ...(problem === null ? [] : [colors.attention([problem, hint].filter(Boolean).join(' '))]),
    ...(engine === null ? [] : [engineText(engine, colors)]),
    ...(engine?.engine === 'git' ? [NO_ROWS] : []),
    ...(rows.length === 0 ? [] : ['', table(rows, [{ max: 30 }])]),
    ...machines.filter(({ isThis }) => !isThis).map((machine) => trustText(machine, localTime)),
    ...(sameNames.length === 0 ? [] : [twins]),
    '',
    settingsText(settings),
    ...settings.conflicts.flatMap(({ key, value, machine, at, other }) => [
      `${key} is ${valueText(value)} (${machine}, ${localTime(at)}), not ${valueText(other.value)} (${other.machine}, ${localTime(other.at)}).`,
      `  To take the other: steward sync settings take ${forShell(key)}`,
    ]),
    ...listed(plural(conflicts.length, 'conflict copy', 'conflict copies'), conflicts),
    ...listed(
      plural(damaged.length, 'unreadable file'),
      damaged.map(({ path, reason }) => `${path}: ${reason}`),
    ),
    ...(pendingRemovals === 0
      ? []
      : ['', 'Purged data is still published. It will be removed once the folder is available.']),
    ...former.flatMap((text) => ['', text]),
  ];
  return lines.join('\n');
}

function stateText({ isThis, leftAt, daysBehind }: MachineStatus): string {
  if (isThis) return 'this machine';
  if (leftAt !== null) return 'left';
  return daysBehind === 0 ? 'up to date' : `${plural(daysBehind, 'day')} behind`;
}

/** Says when a machine's news came, what it publishes, what it has read of this one, and whether its clock is right. */
function trustText(machine: MachineStatus, localTime: LocalTime): string {
  const { name, newsAt, days, publishes, read, clock, leftAt } = machine;
  if (leftAt !== null) {
    return `${name}: left ${localTime(leftAt)}; its days stay. To delete them: steward sync forget ${forShell(name)}`;
  }
  const { sessions, usage, settings } = publishes;
  const kinds = Object.entries({ days, sessions, usage, settings }).filter(([, count]) => count > 0);
  const published = kinds.map(([kind]) => kind).join(', ') || 'nothing yet';
  const hasRead =
    read === null ? 'does not say yet which of your days it has read' : hasReadText(read, localTime);
  const parts = [`news came ${localTime(newsAt)}`, `publishes ${published}`, hasRead, clockText(clock)];
  return `${name}: ${parts.join('; ')}.`;
}

function hasReadText({ to, at }: MachineRead, localTime: LocalTime): string {
  return `had read ${to === null ? 'none of your days' : `your days up to ${to}`} at ${localTime(at)}`;
}

function clockText(clock: MachineStatus['clock']): string {
  if (clock === null) return 'its clock is not known yet';
  const { leastMs, mostMs } = clock;
  const words = (ms: number): string => minutes(Math.ceil(Math.abs(ms) / 60_000));
  if (leastMs <= 0 && mostMs >= 0) return `its clock is right within ${words(Math.max(-leastMs, mostMs))}`;
  const [middleMs, aroundMs] = [(leastMs + mostMs) / 2, (mostMs - leastMs) / 2];
  return `its clock is ${words(middleMs)} ${middleMs > 0 ? 'ahead' : 'behind'}, ± ${words(aroundMs)}`;
}

/** Returns what came from a machine, or was published by this one, in the files that changed. */
export function newsOf({ id, name, isThis, lastSeen, leftAt }: MachineStatus, changed: readonly string[]) {
  const paths = changed.map((path) => path.split(/[\\/]/)).filter((parts) => parts.includes(id));
  const names = paths.map((parts) => parts.at(-1) ?? '');
  const days = new Set(names.map((file) => file.slice(0, 10)).filter(isDay)).size;
  return { id, name, isThis, lastSeen, leftAt, newDays: days, newSettings: names.includes(SHARED_FILE) };
}

type News = ReturnType<typeof newsOf>;

/** The output of `steward sync now`: a line for each machine, this one first. */
export function newsText(news: readonly News[], isPushed: boolean, localTime: LocalTime): string {
  const nothing = isPushed ? 'pushed what it had published before' : 'has nothing new to publish';
  const lineOf = ({ name, isThis, lastSeen, leftAt, newDays, newSettings }: News): string => {
    const came = [newDays > 0 ? plural(newDays, 'day') : [], newSettings ? 'settings' : []];
    const words = came.flat().join(' and ');
    if (isThis) return `${name} (this machine) ${words === '' ? nothing : `published ${words}`}.`;
    if (words !== '') return `${name}: ${words} came, written ${localTime(lastSeen)}.`;
    if (leftAt !== null) return `${name}: left ${localTime(leftAt)}; its days stay.`;
    return `${name}: nothing new since ${localTime(lastSeen)}.`;
  };
  const lines = [...news].sort((a, b) => Number(b.isThis) - Number(a.isThis)).map(lineOf);
  if (news.every(({ isThis }) => isThis)) lines.push('No other machine has published here yet.');
  return lines.join('\n');
}

function settingsText({ isShared, machines }: SyncStatus['settings']): string {
  if (!isShared && machines.length === 0)
    return 'Settings are not shared. To share them: steward sync settings on';
  const text = `Settings are shared by ${machines.join(', ') || 'this machine; none are published yet'}.`;
  return isShared ? text : `${text} To join: steward sync settings on`;
}

function valueText(value: SharedValue): string {
  return value === null ? 'removed' : JSON.stringify(truncated(value.join(' '), 80));
}

function detailsText({ details, publishedDetails }: SyncStatus): string {
  const words = (isWith: boolean): string => `${isWith ? 'with' : 'without'} details`;
  if (publishedDetails === null) return `${words(details)} from the next publication`;
  return `${words(publishedDetails)}${publishedDetails === details ? '' : ' until the next publication'}`;
}

function engineText({ engine, found, problem }: EngineStatus, colors: Palette): string {
  const line = `${engine}: ${found}`;
  return problem ? colors.attention(line) : line;
}

function listed(title: string, items: readonly string[]): string[] {
  if (items.length === 0) return [];
  const more = items.length - MAX_LISTED;
  return [
    '',
    `${title}, ignored:`,
    ...items.slice(0, MAX_LISTED).map((item) => `  ${item}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}
