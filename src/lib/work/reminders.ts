import * as v from 'valibot';

import { undefinedIf } from '../errors';
import { shortHash } from '../platform/files/short-hash';
import { longDay } from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import { parseIso, toIso } from '../platform/time/clock';
import { dayOf, timeOf } from '../platform/time/time';
import { readStored, writeStored } from './cache';
import { unsentReminders } from './capture/unsent-reminders';
import { withWorkLock, type WorkDeps } from './deps';
import { titleText, type Issue } from './issue';
import { currentPrivacy } from './privacy';

/** A notification for one reminder, or for several that are due at the same time. */
export interface Notice {
  title: string;
  message: string;
  /** The issue's URL, if the notice covers only one reminder. */
  url?: string;
  /** Identifies the reminders by issue number and due time. */
  key: string;
}

export interface ReminderDeps {
  work: WorkDeps;
  /** Returns whether a notice with this key has been sent. */
  wasSent: (key: string) => boolean;
  send: (notice: Notice) => Promise<unknown>;
  /** Your other machines; `undefined` if there is no exchange folder. */
  others?: OtherMachines;
}

/** Decides which of your machines sends the notification for each reminder. */
export interface OtherMachines {
  /**
   * Maps each key to `now` if this machine sends the notification, `done` if another machine has sent the
   * notification, or `later`. Claims reminders that are due soon.
   */
  turns: (reminders: readonly { key: string; dueMs: number }[]) => Map<string, 'now' | 'done' | 'later'>;
  /** Records that this machine is about to send these notifications. */
  noteTold: (keys: readonly string[]) => void;
}

const VERSION = 1;
const StoredReminders = v.object({
  version: v.literal(VERSION),
  repo: v.string(),
  /**
   * Maps each reminder to its last notification: `due` is the due time that it showed, `at` is when it was
   * sent. The key is the issue number or, before the issue exists, its identity. Times are ISO 8601 in UTC.
   */
  told: v.fallback(v.record(v.string(), v.object({ due: v.string(), at: v.string() })), {}),
  /** The notice that is being sent. Stored before sending. */
  telling: v.fallback(
    v.nullable(
      v.object({
        key: v.string(),
        issues: v.array(v.object({ number: v.union([v.number(), v.string()]), due: v.string() })),
      }),
    ),
    null,
  ),
});
type SentReminders = Pick<v.InferOutput<typeof StoredReminders>, 'told' | 'telling'>;

/** A due reminder. `number` is the issue number or, before the issue exists, its identity. */
interface Reminder {
  number: number | string;
  due: string;
  text: string;
  url?: string;
}

const MAX_SENT = 5000;
/** How long before the due time a machine claims a reminder. */
const AHEAD_MS = 2 * 60_000;
/**
 * If more reminders than this are due, for example after the machine was off, one notice covers all of them.
 */
const MAX_NOTICES = 3;

/**
 * Sends notifications for due reminders and returns how many reminders there were. Stores each notice first,
 * so that a rerun after a crash can check whether the notice was sent.
 */
export async function notifyDue(deps: ReminderDeps): Promise<number> {
  const { repo } = deps.work.workRepo();
  const state = currentPrivacy(deps.work);
  if (repo === undefined || state === 'off' || state === 'public') return 0;
  const aheadMs = deps.others === undefined ? 0 : AHEAD_MS;
  if (dueIssues(deps, repo, aheadMs).length === 0 && (await dueUnsent(deps, repo)).length === 0) return 0;
  const all = withWorkLock(deps.work, 'reminders', () => notifyAll(deps, repo), 0);
  return (await all.catch(undefinedIf('locked'))) ?? 0;
}

async function notifyAll(deps: ReminderDeps, repo: string): Promise<number> {
  const { telling } = readSent(deps.work, repo);
  if (telling !== null) {
    if (deps.wasSent(telling.key)) recordSent(deps.work, repo, telling.issues);
    else update(deps.work, repo, { telling: null });
  }
  skipSentEarly(deps, repo);
  const reminders = [...ownTurns(deps, repo).map(toReminder), ...(await dueUnsent(deps, repo))];
  const batches = reminders.length > MAX_NOTICES ? [reminders] : reminders.map((reminder) => [reminder]);
  for (const batch of batches) {
    const times = batch.map(({ number, due }) => ({ number, due }));
    const key = keyOf(repo.toLowerCase(), batch);
    if (!deps.wasSent(key)) {
      update(deps.work, repo, { telling: { key, issues: times } });
      const shared = batch.filter(({ number }) => typeof number === 'number');
      deps.others?.noteTold(shared.map((reminder) => sharedKey(repo, reminder)));
      await deps.send({ ...noticeOf(deps.work, batch), key });
    }
    recordSent(deps.work, repo, times);
  }
  return reminders.length;
}

/** Records the notifications that were sent before the reminder had an issue. */
function skipSentEarly(deps: ReminderDeps, repo: string): void {
  const { told: notified } = readSent(deps.work, repo);
  const early = dueIssues(deps, repo)
    .filter(({ identity, due }) => identity !== null && notified[identity]?.due === due)
    .map(toReminder);
  if (early.length === 0) return;
  deps.others?.noteTold(early.map((reminder) => sharedKey(repo, reminder)));
  recordSent(deps.work, repo, early);
}

/** Returns the due reminders that wait to become issues, for example because GitHub can't be reached. */
async function dueUnsent({ work }: ReminderDeps, repo: string): Promise<Reminder[]> {
  const nowMs = work.clock.now();
  const { told: notified } = readSent(work, repo);
  const created = new Set(work.cache(repo).issues.map(({ identity }) => identity));
  return (await unsentReminders(work))
    .filter(({ identity, due }) => (parseIso(due) ?? Infinity) <= nowMs && notified[identity]?.due !== due)
    .filter(({ identity }) => !created.has(identity))
    .map(({ identity, text, due }) => ({ number: identity, text, due }));
}

function toReminder({ number, due, title, url }: Issue): Reminder {
  return { number, due: due ?? '', text: titleText(title), url };
}

/**
 * Returns the issues for which this machine sends the notification now. Records the notifications that other
 * machines have sent.
 */
function ownTurns(deps: ReminderDeps, repo: string): Issue[] {
  if (deps.others === undefined) return dueIssues(deps, repo);
  const issues = dueIssues(deps, repo, AHEAD_MS);
  const turns = deps.others.turns(
    issues.map((issue) => ({ key: sharedKey(repo, issue), dueMs: parseIso(issue.due ?? '') ?? 0 })),
  );
  const whose = (turn: string): Issue[] =>
    issues.filter((issue) => turns.get(sharedKey(repo, issue)) === turn);
  const done = whose('done').map(({ number, due }) => ({ number, due: due ?? '' }));
  if (done.length > 0) recordSent(deps.work, repo, done);
  return whose('now');
}

/** Returns a reminder key that is the same on all your machines. */
function sharedKey(repo: string, { number, due }: Pick<Issue, 'number' | 'due'> | Reminder): string {
  return `reminder ${repo.toLowerCase()}#${number}@${due}`;
}

/** Returns the open issues that are due within `aheadMs` and have no notification yet, most overdue first. */
function dueIssues({ work }: ReminderDeps, repo: string, aheadMs = 0): Issue[] {
  const nowMs = work.clock.now() + aheadMs;
  const at = (issue: Issue): number => parseIso(issue.due ?? '') ?? Infinity;
  const due = work.cache(repo).issues.filter((issue) => issue.state === 'open' && at(issue) <= nowMs);
  if (due.length === 0) return [];
  const { told: notified } = readSent(work, repo);
  return due
    .filter((issue) => notified[String(issue.number)]?.due !== issue.due)
    .sort((a, b) => at(a) - at(b) || a.number - b.number);
}

function keyOf(repo: string, issues: readonly Reminder[]): string {
  const text = issues.map(({ number, due }) => `${number}@${due}`).join(' ');
  return `reminder:${shortHash(`${repo} ${text}`)}${shortHash(`${text} ${repo}`)}`;
}

function noticeOf(work: WorkDeps, reminders: readonly Reminder[]): Omit<Notice, 'key'> {
  const textOf = ({ text }: Reminder): string => clean(text).trim() || 'untitled';
  const numberOf = ({ number }: Reminder): string =>
    typeof number === 'number' ? `#${number}` : 'not on GitHub yet';
  const [first] = reminders;
  if (first !== undefined && reminders.length === 1) {
    const message = `${textOf(first)} (due ${dueText(work, first)}, ${numberOf(first)})`;
    return { title: 'Reminder', message, ...(first.url !== undefined && { url: first.url }) };
  }
  const named = reminders
    .slice(0, MAX_NOTICES)
    .map((reminder) => `${textOf(reminder)} (${numberOf(reminder)})`);
  const more = reminders.length - named.length;
  const message = `${named.join('; ')}${more > 0 ? `; and ${more} more: steward work list --type reminder` : ''}`;
  return { title: `${reminders.length} reminders are due`, message };
}

/** Formats `09:00` for today, otherwise `Thu 19 Nov 2026, 09:00`. */
function dueText({ clock, timezone }: WorkDeps, { due }: Reminder): string {
  const ms = parseIso(due) ?? 0;
  const day = dayOf(ms, timezone);
  const time = timeOf(ms, timezone);
  return day === dayOf(clock.now(), timezone) ? time : `${longDay(day)}, ${time}`;
}

function readSent({ paths }: WorkDeps, repo: string): SentReminders {
  const stored = readStored(paths.reminders, StoredReminders);
  return stored?.repo === repo.toLowerCase() ? stored : { told: {}, telling: null };
}

function recordSent(work: WorkDeps, repo: string, issues: readonly Pick<Reminder, 'number' | 'due'>[]): void {
  const at = toIso(work.clock.now());
  const now = new Map(issues.map(({ number, due }) => [String(number), { due, at }]));
  const earlier = Object.entries(readSent(work, repo).told)
    .filter(([number]) => !now.has(number))
    .sort(([, a], [, b]) => (a.at < b.at ? -1 : 1));
  update(work, repo, { told: Object.fromEntries([...earlier, ...now].slice(-MAX_SENT)), telling: null });
}

function update(work: WorkDeps, repo: string, change: Partial<SentReminders>): void {
  const { told, telling } = { ...readSent(work, repo), ...change };
  writeStored(work.paths.reminders, { version: VERSION, repo: repo.toLowerCase(), told, telling });
}
