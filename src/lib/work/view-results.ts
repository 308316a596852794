import { wrap, plural } from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import { fit } from '../platform/terminal/text-width';
import type { Closed } from './actions';
import type { Queued } from './add';
import type { Item } from './board';
import type { RetryResult } from './capture/deliver';
import type { Undoable, Undone } from './capture/undo';
import { waitingText } from './capture/waiting';
import type { ClaimResult } from './claim';
import type { SeedResult } from './labels';
import type { SetupResult } from './setup';
import type { WorkStatus } from './status';
import type { SweepResult } from './sweep';
import type { TaskListResult } from './task-list';
import type { Tidied } from './tidy';
import { finish, setupLines, titleOf, view, when, type WorkTextOptions } from './view';

/** Says how many issues of the service could not be understood. */
export function skippedWords(malformed: number): string {
  return `${plural(malformed, 'malformed issue')} skipped`;
}

/** An issue that was made or changed, by one line and its address. */
export function issueText(item: Item, options: WorkTextOptions, shows: 'due' | 'status'): string {
  const at = view(options);
  const due = item.due === null ? '' : `, due ${when(item.due, at)}`;
  const status = item.status === null ? '' : ` (${item.status})`;
  const line = `#${item.number} ${titleOf(item)}${shows === 'due' ? due : status}`;
  return finish([fit(line, at.columns), clean(item.url)], options);
}

/** `work add`, `work remind`: an issue that is created later. */
export function queuedText({ title, due, reason }: Queued, options: WorkTextOptions): string {
  const at = view(options);
  const on = due === null ? '' : `, due ${when(due, at)}`;
  const why = `${clean(reason)} It is created as soon as GitHub answers; "steward work status" shows it.`;
  return finish([fit(`Queued: ${clean(title)}${on}`, at.columns), ...wrap(why, at.columns)], options);
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
    const name = `${number === null ? '' : `#${number} `}${clean(text ?? 'a capture')}`;
    return fit(`${name}: ${UNDONE_WORDS[result]}`, view(options).columns);
  });
  return finish(lines, options);
}

/** `work retry`. */
export function retryText({
  retried,
  done,
  later,
  failed,
  dead,
  unreadable,
  deadFolder,
}: RetryResult): string {
  const result = `${retried} retried: ${done} sent, ${later + failed} waiting, ${dead} given up again`;
  const count = unreadable === 1 ? '1 entry' : `${unreadable} entries`;
  const rest = `${count} cannot be read. Look into ${deadFolder} and the folder above it, and remove what is damaged.`;
  const isNothing = retried + done + later + failed + dead === 0;
  return [isNothing ? 'Nothing to retry.' : result, ...(unreadable === 0 ? [] : [rest])].join('\n');
}

/** `work tidy`. */
export function tidyText(result: Tidied, options: WorkTextOptions): string {
  const at = view(options);
  const evidence = (texts: readonly string[], what: string): string[] =>
    texts.length === 0 ? [] : [`  ${plural(texts.length, what)}: ${clean(texts[0] ?? '')}`];
  const lines = result.proposed.flatMap(({ number, title, commits, claims }) => [
    `#${number} ${clean(title)}${result.closed.includes(number) ? ': closed' : ''}`,
    ...evidence(commits, 'commit'),
    ...evidence(claims, 'closed claim'),
  ]);
  const left = result.left.flatMap(({ number, title, reason }) =>
    wrap(`#${number} ${clean(title)}: ${clean(reason)}`, at.columns, '', '  '),
  );
  const isOpen = !result.applied && lines.length > 0;
  return finish(
    [
      ...(lines.length + left.length === 0 ? ['Nothing is at Status:done and open.'] : []),
      ...lines.map((line) => fit(line, at.columns)),
      ...(isOpen ? ['', 'Close them with this as their comments: steward work tidy --apply'] : []),
      ...(left.length === 0 ? [] : ['', 'Left alone:', ...left]),
    ],
    options,
  );
}

export function missingText(missing: readonly string[]): string {
  return `The repository has no label ${missing.map(clean).join(', ')}; the issue was made without. \`steward work labels seed\` adds those of labels.yml.`;
}

export function claimText({ number, agent, already, title, url }: ClaimResult): string {
  const words = already ? 'is yours already' : 'is yours now';
  return `#${number} ${words}, ${clean(agent)}: ${titleOf({ title })}\n${clean(url)}`;
}

export function closedText(closed: Closed): string {
  return `Closed #${closed.number} ${titleOf(closed)}\n${clean(closed.comment)}`;
}

export function setupText({ repo, created: isNew, labels, issues, files, next }: SetupResult): string {
  const { created, unchanged } = labels;
  const seeded =
    created.length === 0 ? `all ${unchanged} there` : `${created.length} created, ${unchanged} there before`;
  return [
    `${clean(repo)} is private${isNew ? ', and was made now' : ''}.`,
    `labels  ${seeded}`,
    `issues  ${issues}`,
    ...files.map((file) => `wrote   ${file}`),
    '',
    'Next:',
    ...next.map((step) => `  ${step}`),
  ].join('\n');
}

export function seedText({ created, dryRun, unchanged }: SeedResult): string {
  const lines = created.map((name) => `${dryRun ? 'would create' : 'created'} ${clean(name)}`);
  return [...lines, `${plural(unchanged, 'label')} there before`].join('\n');
}

/** `work tasks regenerate`. */
export function taskListText({ path, sections, pushed, committed, changed }: TaskListResult): string {
  const written = changed ? 'written' : 'as it was';
  const done = pushed ? 'committed and pushed' : committed ? 'committed, not pushed' : written;
  const counts = Object.entries(sections).map(([section, count]) => `${section} ${count}`);
  return `${path}: ${done}\n${counts.join(' · ')}`;
}

/** `work sweep`: what was done, and the command that goes on where the limit was reached. */
export function sweepText(result: SweepResult, since: string, maxCreate: number): string {
  const waiting = result.waiting.map((one) => `${waitingText(one)}.`);
  if (result.skipped !== null) return [`Nothing was swept: ${result.skipped}.`, ...waiting].join('\n');
  if (result.errors.some(({ step }) => step === 'start')) return 'Nothing was swept.';
  const { dryRun, left, reminded, malformed, sessionsScanned } = result;
  const facts = [
    `${result.created} ${dryRun ? 'to create' : 'created'}`,
    `${result.updated} updated`,
    `${result.staleFlagged} ${dryRun ? 'to flag' : 'flagged'} as stale`,
    plural(result.duplicatesMerged, 'duplicate'),
    `${plural(sessionsScanned, 'session')} seen`,
    ...(reminded === 0 ? [] : [`${reminded} reminded`]),
    ...(malformed === 0 ? [] : [skippedWords(malformed)]),
    plural(result.requests, 'request'),
  ];
  const more = `${left} more wait; go on with: steward work sweep --since ${since} --max-create ${maxCreate}`;
  return [
    ...result.titles.map((title) => `  ${clean(title)}`),
    facts.join(' · '),
    ...(left === 0 ? [] : [more]),
    ...waiting,
  ].join('\n');
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
  const { privacy, issues, lastFetch, malformed, unfinished } = status;
  const isPrivate = privacy.state === 'fresh' || privacy.state === 'due';
  const seen = privacy.verifiedAt === null ? '' : `, seen ${when(privacy.verifiedAt, at)}`;
  const onOff = (value: boolean): string => (value ? 'on' : 'off');
  const prompts = status.capturePrompt === 'whole' ? 'all of it' : 'the line';
  // Name, value, and whether it needs attention.
  const rows: [string, string, boolean?][] = [
    ['repository', clean(status.repo ?? '')],
    ['privacy', `${PRIVACY_WORDS[privacy.state]}${seen}`, !isPrivate],
    ['issues', lastFetch === null ? 'unknown' : `${issues.open} open, ${issues.closed} closed`],
  ];
  if (malformed > 0) rows.push(['malformed', `${skippedWords(malformed)}, and not among these`, true]);
  rows.push(['last read', lastFetch === null ? 'never' : when(lastFetch, at)]);
  if (status.stale) rows.push(['', clean(status.staleReason ?? ''), true]);
  rows.push(
    ['poll', `every ${status.pollIntervalSeconds} s`],
    [
      'capture',
      `native sessions ${onOff(status.captureNative)} · sweep ${onOff(status.captureSweep)} · of a prompt ${prompts}`,
    ],
    ...status.waiting.map((one, i): [string, string, boolean] => [
      i === 0 ? 'waiting' : '',
      waitingText(one),
      true,
    ]),
  );
  if (unfinished > 0) rows.push(['unfinished', `${unfinished}, looked for again before anything is made`]);
  const lines = rows.flatMap(([name, value, isBad = false]) =>
    wrap(value, at.columns - 14, '').map(
      (line, i) => (i === 0 ? name : '').padEnd(14) + (isBad ? at.colors.attention(line) : line),
    ),
  );
  return finish(lines, options);
}
