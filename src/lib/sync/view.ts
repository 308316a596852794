import { forShell } from '../platform/process/spawn';
import { truncated } from '../platform/terminal/terminal';
import { minutes, palette, plural, table, type Palette } from '../platform/terminal/format';
import type { Terminal } from '../platform/terminal/stdio';
import { formerTexts } from './checks';
import type { MachineRead } from './format';
import type { PlannedFile } from './publish';
import type { SharedValue } from './settings';
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

const WORDS = { new: 'new', changed: 'changed', removed: 'removed', none: '' };

export function planText({ folder, machine, details, files, total, changed }: SyncPlan): string {
  const rows = files
    .filter(({ change }) => change !== 'none')
    .map(({ path, bytes, change }) => [`${machine}/${path}`, String(bytes), WORDS[change]]);
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
  const { folder, problem, hint, pendingRemovals, machines, settings } = status;
  const { conflicts, damaged, engine } = status;
  const former = formerTexts(status.pendingFormer);
  if (folder === null)
    return ['No exchange folder is set. Set one: steward sync setup FOLDER', ...former].join('\n');
  const colors = palette(terminal);
  const rows = machines.map((machine) => [
    machine.name,
    machine.id,
    machine.isThis
      ? 'this machine'
      : machine.daysBehind === 0
        ? 'up to date'
        : `${plural(machine.daysBehind, 'day')} behind`,
    `written ${localTime(machine.lastSeen)}`,
    machine.days === 0 ? 'no days' : `${plural(machine.days, 'day')} since ${machine.from ?? ''}`,
  ]);
  const nameOf = ({ id, name }: MachineStatus): string =>
    machines.some((other) => other.id !== id && other.name === name) ? `${name}-${id.slice(0, 4)}` : name;
  const lines = [
    `${folder} (${detailsText(status)})`,
    ...(problem === null ? [] : [colors.attention([problem, hint].filter(Boolean).join(' '))]),
    ...(engine === null ? [] : [engineText(engine, colors)]),
    ...(engine?.engine === 'git' ? [NO_ROWS] : []),
    ...(rows.length === 0 ? [] : ['', table(rows, [{ max: 30 }])]),
    ...machines
      .filter(({ isThis }) => !isThis)
      .map((machine) => trustText(machine, nameOf(machine), localTime)),
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

/** Says when a machine's news came, what it publishes, what it has read of this one, and whether its clock is right. */
function trustText(
  { newsAt, days, publishes, read, clock }: MachineStatus,
  name: string,
  localTime: LocalTime,
): string {
  const { sessions, usage, settings } = publishes;
  const kinds = Object.entries({ days, sessions, usage, settings }).filter(([, count]) => count > 0);
  const published = kinds.map(([kind]) => kind).join(', ') || 'nothing yet';
  const hasRead =
    read === null ? 'does not say yet which of your days it has read' : hasReadText(read, localTime);
  const parts = [`news came ${localTime(newsAt)}`, `publishes ${published}`, hasRead, clockText(clock)];
  return `${name}: ${parts.join('; ')}.`;
}

function hasReadText({ to, at }: MachineRead, localTime: LocalTime): string {
  return to === null ? 'has read none of your days' : `had read your days up to ${to} at ${localTime(at)}`;
}

function clockText(clock: MachineStatus['clock']): string {
  if (clock === null) return 'its clock is not known yet';
  const { leastMs, mostMs } = clock;
  const words = (ms: number): string => minutes(Math.ceil(Math.abs(ms) / 60_000));
  if (leastMs <= 0 && mostMs >= 0) return `its clock is right within ${words(Math.max(-leastMs, mostMs))}`;
  const [middleMs, aroundMs] = [(leastMs + mostMs) / 2, (mostMs - leastMs) / 2];
  return `its clock is ${words(middleMs)} ${middleMs > 0 ? 'ahead' : 'behind'}, ± ${words(aroundMs)}`;
}

function settingsText({ isShared, machines }: SyncStatus['settings']): string {
  if (isShared) return `Settings are shared by ${machines.join(', ') || 'this machine only'}.`;
  return machines.length === 0
    ? 'Settings are not shared. To share them: steward sync settings on'
    : `${machines.join(', ')} shares settings. To join: steward sync settings on`;
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
