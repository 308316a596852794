import { plural, wrap, joinLines } from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import { fit } from '../platform/terminal/text-width';
import type { Closed } from './actions';
import type { Added, Queued } from './add';
import type { Item } from './board';
import type { RetryResult } from './capture/deliver';
import type { Undoable, Undone } from './capture/undo';
import { waitingText } from './capture/waiting';
import type { ClaimResult } from './claim';
import type { SeedResult } from './labels';
import type { SetupResult } from './setup';
import type { WorkStatus } from './status';
import type { SweepResult } from './sweep-log';
import type { TaskListResult } from './task-list';
import type { Tidied } from './tidy';
import { setupLines, titleOf, view, when, type WorkTextOptions } from './view';

export function malformedText(malformed: number): string {
  return `${plural(malformed, 'malformed issue')} skipped`;
}

/** Formats an issue as one line followed by its URL. */
export function issueText(item: Item, options: WorkTextOptions, shows: 'due' | 'status'): string {
  const at = view(options);
  const due = item.due === null ? '' : `, due ${when(item.due, at)}`;
  const status = item.status === null ? '' : ` (${item.status})`;
  const line = `#${item.number} ${titleOf(item)}${shows === 'due' ? due : status}`;
  return joinLines([fit(line, at.columns), clean(item.url)]);
}

const RESUMED = 'The same issue was already queued, so steward continued with it and created no second one.';

/** Formats the result of `work add` or `work remind`, after saying what is special about it. */
export function addedText(added: Added | Queued, options: WorkTextOptions, say: (line: string) => void) {
  if (added.resumed) say(RESUMED);
  if ('queued' in added) return queuedText(added, options);
  if (added.missingLabels.length > 0) say(missingText(added.missingLabels));
  return issueText(added, options, 'due');
}

function queuedText({ title, due, reason }: Queued, options: WorkTextOptions): string {
  const at = view(options);
  const time = due === null ? '' : `, due ${when(due, at)}`;
  const why = `${clean(reason)} steward will create the issue once GitHub is reachable; see "steward work status".`;
  return joinLines([fit(`Queued: ${clean(title)}${time}`, at.columns), ...wrap(why, at.columns)]);
}

/** Formats the captures for the confirmation prompt of `work undo`. */
export function undoableText(captures: readonly Undoable[], options: WorkTextOptions): string {
  const at = view(options);
  const lines = captures.map(({ text, number, at: time }) => {
    const where = number === null ? 'not sent yet' : `#${number}`;
    return fit(`  ${clean(text ?? 'captured prompt')} (${where}, ${when(time, at)})`, at.columns);
  });
  return joinLines(['Captures to undo:', ...lines]);
}

const UNDONE_TEXTS: Readonly<Record<Undone['result'], string>> = {
  withdrawn: 'withdrawn before it was sent',
  closed: 'closed as not planned',
  'was closed': 'already closed',
  gone: 'no longer exists',
};

export function undoneText(undone: readonly Undone[], options: WorkTextOptions): string {
  if (undone.length === 0) return 'Nothing to undo: there are no captured prompts.';
  const lines = undone.map(({ text, number, result }) => {
    const name = `${number === null ? '' : `#${number} `}${clean(text ?? 'captured prompt')}`;
    return fit(`${name}: ${UNDONE_TEXTS[result]}`, view(options).columns);
  });
  return joinLines(lines);
}

export function retryText(result: RetryResult): string {
  const { retried, done, later, failed, dead, unreadable, deadFolder } = result;
  const counts = `${retried} retried: ${done} sent, ${later + failed} waiting, ${dead} failed again`;
  const isNothing = retried + done + later + failed + dead === 0;
  const damaged = `${plural(unreadable, 'entry', 'entries')} cannot be read. Remove the damaged files from ${deadFolder} and its parent folder.`;
  return [isNothing ? 'Nothing to retry.' : counts, ...(unreadable === 0 ? [] : [damaged])].join('\n');
}

export function tidyText(result: Tidied, options: WorkTextOptions): string {
  const at = view(options);
  const evidence = (texts: readonly string[], what: string): string[] =>
    texts.length === 0 ? [] : [`  ${plural(texts.length, what)}: ${clean(texts[0] ?? '')}`];
  const lines = result.proposed.flatMap(({ number, title, commits, claims }) => [
    `#${number} ${clean(title)}${result.closed.includes(number) ? ': closed' : ''}`,
    ...evidence(commits, 'commit'),
    ...evidence(claims, 'checked item'),
  ]);
  const skipped = result.left.flatMap(({ number, title, reason }) =>
    wrap(`#${number} ${clean(title)}: ${clean(reason)}`, at.columns, '', '  '),
  );
  const isProposal = !result.applied && lines.length > 0;
  return joinLines([
    ...(lines.length + skipped.length === 0 ? ['No open issues are labeled Status:done.'] : []),
    ...lines.map((line) => fit(line, at.columns)),
    ...(isProposal ? ['', 'To close them with this evidence: steward work tidy'] : []),
    ...(skipped.length === 0 ? [] : ['', 'Not closed:', ...skipped]),
  ]);
}

function missingText(missing: readonly string[]): string {
  const labels = missing.map(clean).join(', ');
  return `Created without these labels, which do not exist in the repository: ${labels}. To create the labels listed in labels.yml, run "steward work labels seed".`;
}

export function claimText({ number, agent, already, title, url }: ClaimResult): string {
  const what = `#${number} ${titleOf({ title })}`;
  return `${already ? `${what} is already claimed by` : `${what} is now claimed by`} ${clean(agent)}\n${clean(url)}`;
}

export function closedText(closed: Closed): string {
  return `Closed #${closed.number} ${titleOf(closed)}\n${clean(closed.comment)}`;
}

export function setupText({ repo, created: isNew, labels, issues, files, next }: SetupResult): string {
  const { created, unchanged } = labels;
  return [
    `${isNew ? 'Created the private repository' : 'Using the private repository'} ${clean(repo)}.`,
    `labels  ${created.length} created, ${unchanged} already existed`,
    `issues  ${issues}`,
    ...files.map((file) => `wrote   ${file}`),
    '',
    'Next:',
    ...next.map((step) => `  ${step}`),
  ].join('\n');
}

export function seedText({ created, dryRun, unchanged }: SeedResult): string {
  const lines = created.map((name) => `${dryRun ? 'would create' : 'created'} ${clean(name)}`);
  return [...lines, `${plural(unchanged, 'label')} already existed`].join('\n');
}

export function taskListText({ path, sections, pushed, committed, changed }: TaskListResult): string {
  const local = changed ? 'updated' : 'unchanged';
  const state = pushed ? 'committed and pushed' : committed ? 'committed, not pushed' : local;
  const counts = Object.entries(sections).map(([section, count]) => `${section} ${count}`);
  return `${path}: ${state}\n${counts.join(' · ')}`;
}

/** Formats the result of `work sweep`, and the command that creates the remaining issues. */
export function sweepText(result: SweepResult, maxCreate: number): string {
  const waiting = result.waiting.map((group) => `${waitingText(group)}.`);
  if (result.skipped !== null) return [`Sweep skipped: ${result.skipped}.`, ...waiting].join('\n');
  if (result.errors.some(({ step }) => step === 'start')) return 'The sweep did not start.';
  const { dryRun, left, reminded, malformed, sessionsScanned } = result;
  const facts = [
    `${result.created} ${dryRun ? 'to create' : 'created'}`,
    `${result.updated} updated`,
    `${result.staleFlagged} ${dryRun ? 'to flag' : 'flagged'} as stale`,
    plural(result.duplicatesMerged, 'duplicate'),
    `${plural(sessionsScanned, 'session')} checked`,
    ...(reminded === 0 ? [] : [`${plural(reminded, 'reminder')} sent`]),
    ...(malformed === 0 ? [] : [malformedText(malformed)]),
    plural(result.requests, 'request'),
  ];
  const days = Math.ceil(result.sinceHours / 24) + 1;
  const more = `${left} more to create. Run: steward work sweep --of ${days}d --max-create ${maxCreate}`;
  return [
    ...result.titles.map((title) => `  ${clean(title)}`),
    facts.join(' · '),
    ...(left === 0 ? [] : [more]),
    ...waiting,
  ].join('\n');
}

const PRIVACY_TEXTS: Readonly<Record<WorkStatus['privacy']['state'], string>> = {
  setup: 'not set up',
  off: 'off',
  public: 'not private: work tracking is off',
  unverified: 'not verified; run "steward work verify"',
  fresh: 'private',
  due: 'private, verification due',
  expired: 'verification expired; run "steward work verify"',
};

export function statusText(status: WorkStatus, options: WorkTextOptions): string {
  const at = view(options);
  if (status.setupRequired) return joinLines(setupLines(status.steps, at));
  const { privacy, issues, lastFetch, malformed, unfinished } = status;
  const isPrivate = privacy.state === 'fresh' || privacy.state === 'due';
  const verified = privacy.verifiedAt === null ? '' : ` (verified ${when(privacy.verifiedAt, at)})`;
  const onOff = (value: boolean): string => (value ? 'on' : 'off');
  const prompts = status.capturePrompt === 'whole' ? 'whole prompt' : 'matching line only';
  // Each row contains a label, a value, and whether the value needs attention.
  const rows: [string, string, boolean?][] = [
    ['repository', clean(status.repo ?? '')],
    ['privacy', `${PRIVACY_TEXTS[privacy.state]}${verified}`, !isPrivate],
    ['issues', lastFetch === null ? 'unknown' : `${issues.open} open, ${issues.closed} closed`],
  ];
  if (malformed > 0) rows.push(['malformed', `${malformedText(malformed)}, not counted above`, true]);
  rows.push(['last fetched', lastFetch === null ? 'never' : when(lastFetch, at)]);
  if (status.stale) rows.push(['', clean(status.staleReason ?? ''), true]);
  const { captureNative, captureSweep } = status;
  rows.push(
    ['poll', `every ${status.pollIntervalSeconds} s`],
    [
      'capture',
      `native sessions ${onOff(captureNative)} · sweep ${onOff(captureSweep)} · prompts: ${prompts}`,
    ],
  );
  for (const [index, group] of status.waiting.entries())
    rows.push([index === 0 ? 'waiting' : '', waitingText(group), true]);
  if (unfinished > 0)
    rows.push([
      'unconfirmed',
      `${plural(unfinished, 'issue')}; the next fetch shows whether GitHub created it`,
    ]);
  const lines = rows.flatMap(([name, value, needsAttention = false]) =>
    wrap(value, at.columns - 14, '').map(
      (line, i) => (i === 0 ? name : '').padEnd(14) + (needsAttention ? at.colors.attention(line) : line),
    ),
  );
  return joinLines(lines);
}
