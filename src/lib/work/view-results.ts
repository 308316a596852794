import { type Palette, longDay, palette, toAscii, wrap } from '../platform/terminal/format';
import { plural } from '../platform/terminal/plural';
import { clean } from '../platform/terminal/terminal';
import { fit } from '../platform/terminal/text-width';
import { parseIso } from '../platform/time/clock';
import { dayOf, timeOf } from '../platform/time/time';
import type { Added, Closed, Snoozed } from './actions';
import type { Item } from './board';
import type { Undoable, Undone } from './capture/undo';
import { waitingText } from './capture/waiting';
import type { ClaimResult } from './claim';
import { parseTitle } from './issue';
import type { SeedResult } from './labels';
import type { SetupResult } from './setup';
import type { WorkStatus } from './status';
import type { TaskListResult } from './task-list';
import type { Tidied } from './tidy';

/** `work add` and `work remind`. */
export function addedText(added: Added, options: WorkTextOptions): string {
  const at = view(options);
  const due = added.due === null ? '' : `, due ${when(added.due, at)}`;
  return finish([fit(`#${added.number} ${titleOf(added)}${due}`, at.columns), clean(added.url)], options);
}

/** `work edit`, `work start` and `work block`. */
export function changedText(item: Item, options: WorkTextOptions): string {
  const status = item.status === null ? '' : ` (${item.status})`;
  return finish(
    [fit(`#${item.number} ${titleOf(item)}${status}`, view(options).columns), clean(item.url)],
    options,
  );
}

/** `work snooze`. */
export function snoozedText(snoozed: Snoozed, options: WorkTextOptions): string {
  const at = view(options);
  const line = `#${snoozed.number} ${titleOf(snoozed)}, due ${when(snoozed.due, at)}`;
  return finish([fit(line, at.columns), clean(snoozed.url)], options);
}

/** `work undo`, before: what would be taken back. */
export function undoableText(captures: readonly Undoable[], options: WorkTextOptions): string {
  const at = view(options);
  const lines = captures.map(({ text, number, at: said }) => {
    const where = number === null ? 'not sent yet' : `#${number}`;
    return fit(`  ${clean(text ?? 'a capture')} (${where}, said ${when(said, at)})`, at.columns);
  });
  return finish(['To be taken back:', ...lines], options);
}

const UNDONE_WORDS: Readonly<Record<Undone['result'], string>> = {
  withdrawn: 'withdrawn, it was never sent',
  closed: 'closed as not planned',
  'was closed': 'was closed already',
  gone: 'is not there any more',
};

/** `work undo`. */
export function undoneText(undone: readonly Undone[], options: WorkTextOptions): string {
  if (undone.length === 0) return 'Nothing was captured from a prompt that could be taken back.';
  const lines = undone.map(({ text, number, result }) => {
    const name = [number === null ? [] : [`#${number}`], clean(text ?? 'a capture')].flat().join(' ');
    return fit(`${name}: ${UNDONE_WORDS[result]}`, view(options).columns);
  });
  return finish(lines, options);
}

/** `work tidy`. */
export function tidyText(result: Tidied, options: WorkTextOptions): string {
  const at = view(options);
  const line = (text: string): string => fit(text, at.columns);
  const closed = new Set(result.closed);
  const lines = result.proposed.flatMap((one) => [
    line(`#${one.number} ${clean(one.title)}${closed.has(one.number) ? ': closed' : ''}`),
    ...(one.commits.length === 0
      ? []
      : [line(`  ${plural(one.commits.length, 'commit')}: ${clean(one.commits[0] ?? '')}`)]),
    ...(one.claims.length === 0
      ? []
      : [line(`  ${plural(one.claims.length, 'closed claim')}: ${clean(one.claims[0] ?? '')}`)]),
  ]);
  const left = result.left.map(({ number, title, reason }) =>
    wrap(`#${number} ${clean(title)}: ${clean(reason)}`, at.columns, '', '  ').join('\n'),
  );
  const next =
    result.applied || result.proposed.length === 0
      ? []
      : ['', 'Close them with this as their comments: steward work tidy --apply'];
  const none = result.proposed.length + left.length === 0 ? ['Nothing is at Status:done and open.'] : [];
  return finish(
    [...none, ...lines, ...next, ...(left.length === 0 ? [] : ['', 'Left alone:', ...left])],
    options,
  );
}

export function missingText(missing: readonly string[]): string {
  return `The repository has no label ${missing.map(clean).join(', ')}; the issue was made without. \`steward work labels seed\` adds those of labels.yml.`;
}

export function claimText({ number, agent, already, title, url }: ClaimResult): string {
  const words = already ? 'is yours already' : 'is yours now';
  return `#${number} ${words}, ${clean(agent)}: ${clean(parseTitle(title).text)}\n${clean(url)}`;
}

export function closedText(closed: Closed): string {
  return `Closed #${closed.number} ${titleOf(closed)}\n${clean(closed.comment)}`;
}

export function setupText(result: SetupResult): string {
  const { created, unchanged } = result.labels;
  const labels =
    created.length === 0 ? `all ${unchanged} there` : `${created.length} created, ${unchanged} there before`;
  return [
    `${clean(result.repo)} is private${result.created ? ', and was made now' : ''}.`,
    `labels  ${labels}`,
    `issues  ${result.issues}`,
    ...result.files.map((file) => `wrote   ${file}`),
    '',
    'Next:',
    ...result.next.map((step) => `  ${step}`),
  ].join('\n');
}

export function seedText(result: SeedResult): string {
  const did = result.dryRun ? 'would create' : 'created';
  const lines = result.created.map((name) => `${did} ${clean(name)}`);
  return [...lines, `${plural(result.unchanged, 'label')} there before`].join('\n');
}

/** `work tasks regenerate`. */
export function taskListText(result: TaskListResult): string {
  const counts = Object.entries(result.sections).map(([section, count]) => `${section} ${count}`);
  const done = result.pushed
    ? 'committed and pushed'
    : result.committed
      ? 'committed, not pushed'
      : result.changed
        ? 'written'
        : 'as it was';
  return [`${result.path}: ${done}`, counts.join(' · ')].join('\n');
}

const PRIVACY_WORDS: Readonly<Record<WorkStatus['privacy']['state'], string>> = {
  setup: 'not set up',
  off: 'switched off',
  public: 'not private: everything is off',
  unverified: 'not verified; run "steward work verify"',
  fresh: 'private',
  due: 'private, to be looked at again',
  expired: 'not seen for too long; run "steward work verify"',
};

/** `work status`. */
export function statusText(status: WorkStatus, options: WorkTextOptions): string {
  const at = view(options);
  if (status.setupRequired) return finish(setupLines(status.steps, at), options);
  const row = (name: string, value: string, paint: (text: string) => string = (text) => text): string[] =>
    wrap(value, at.columns - 14, '').map((line, i) => (i === 0 ? name : '').padEnd(14) + paint(line));
  const { privacy } = status;
  const fine = privacy.state === 'fresh' || privacy.state === 'due';
  const seen = privacy.verifiedAt === null ? '' : `, seen ${when(privacy.verifiedAt, at)}`;
  const lines = [
    ...row('repository', clean(status.repo ?? '')),
    ...row('privacy', `${PRIVACY_WORDS[privacy.state]}${seen}`, fine ? undefined : at.colors.attention),
    ...row(
      'issues',
      status.lastFetch === null ? 'unknown' : `${status.issues.open} open, ${status.issues.closed} closed`,
    ),
    ...(status.malformed === 0
      ? []
      : row('malformed', `${skippedWords(status.malformed)}, and not among these`, at.colors.attention)),
    ...row('last read', status.lastFetch === null ? 'never' : when(status.lastFetch, at)),
    ...(status.stale ? row('', clean(status.staleReason ?? ''), at.colors.attention) : []),
    ...row('poll', `every ${status.pollIntervalSeconds} s`),
    ...row(
      'capture',
      `native sessions ${onOff(status.captureNative)} · sweep ${onOff(status.captureSweep)} · of a prompt ${status.capturePrompt === 'whole' ? 'all of it' : 'the line'}`,
    ),
    ...status.waiting.flatMap((one, i) =>
      row(i === 0 ? 'waiting' : '', waitingText(one), at.colors.attention),
    ),
    ...(status.unfinished === 0
      ? []
      : row('unfinished', `${status.unfinished}, looked for again before anything is made`)),
  ];
  return finish(lines, options);
}

function onOff(value: boolean): string {
  return value ? 'on' : 'off';
}

export interface WorkTextOptions {
  columns: number;
  color: boolean;
  /** False for terminals without block characters; true when left out. */
  unicode?: boolean;
  /** Wall-clock ms. */
  nowMs: number;
  timezone: string;
}

/** Says how many issues of the service could not be understood. */
export function skippedWords(malformed: number): string {
  return `${plural(malformed, 'malformed issue')} skipped`;
}

const MIN_COLUMNS = 32;

export interface View extends WorkTextOptions {
  colors: Palette;
}

export function view(options: WorkTextOptions): View {
  return {
    ...options,
    columns: Math.max(MIN_COLUMNS, options.columns),
    colors: palette({ color: options.color }),
  };
}

export function finish(lines: readonly string[], options: WorkTextOptions): string {
  const text = lines.map((line) => line.trimEnd()).join('\n');
  return options.unicode === false ? toAscii(text) : text;
}

export function setupLines(steps: readonly string[], { columns }: View): string[] {
  return [
    ...wrap(
      'Work tracking is not set up. It keeps work as issues in one private repository of yours:',
      columns,
    ),
    '',
    ...steps.map((step) => `  ${step}`),
  ];
}

/** The title without its prefix and identity, for a terminal. */
export function titleOf(item: Pick<Item, 'title'>): string {
  const text = clean(parseTitle(item.title).text).trim();
  return text === '' ? 'untitled' : text;
}

type Now = Pick<WorkTextOptions, 'nowMs' | 'timezone'>;

/** `09:42` of today, `Fri 20 Nov 2026 09:42` of another day. */
export function when(iso: string, at: Now): string {
  return localTime(iso, at, longDay);
}

/** `09:42` of today, `Fri 20 Nov 09:42` of another day. */
export function shortWhen(iso: string, at: Now): string {
  return localTime(iso, at, (day) => longDay(day).slice(0, -5));
}

function localTime(iso: string, at: Now, dayText: (day: string) => string): string {
  const ms = parseIso(iso);
  if (ms === undefined) return 'unknown';
  const day = dayOf(ms, at.timezone);
  const time = timeOf(ms, at.timezone);
  return day === dayOf(at.nowMs, at.timezone) ? time : `${dayText(day)} ${time}`;
}
