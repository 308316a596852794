import * as v from 'valibot';

import { StewardError } from '../errors';
import { shortHash } from '../platform/files/short-hash';
import { longDay } from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import { parseIso, toIso } from '../platform/time/clock';
import { dayOf, timeOf } from '../platform/time/time';
import { readStored, writeStored } from './cache';
import { alone, type WorkDeps } from './deps';
import { parseTitle, type Issue } from './issue';
import { privacyState } from './privacy';

/** What a person is told of one reminder, or of several that are due at once. */
export interface Notice {
  title: string;
  message: string;
  /** The issue, where it is one. */
  url?: string;
  /** The same for the same reminders of the same times. */
  key: string;
}

export interface ReminderDeps {
  work: WorkDeps;
  /** Did a notice with this key go out, as the notifications know it? */
  wasTold: (key: string) => boolean;
  tell: (notice: Notice) => Promise<unknown>;
}

const VERSION = 1;
const StoredTold = v.object({
  version: v.literal(VERSION),
  repo: v.string(),
  /** Number → the time that it was due at, and when it was told of; ISO-8601 UTC. */
  told: v.fallback(v.record(v.string(), v.object({ due: v.string(), at: v.string() })), {}),
  /** What was about to be told of. */
  telling: v.fallback(
    v.nullable(
      v.object({ key: v.string(), issues: v.array(v.object({ number: v.number(), due: v.string() })) }),
    ),
    null,
  ),
});
type Told = Pick<v.InferOutput<typeof StoredTold>, 'told' | 'telling'>;

const MAX_TOLD = 5000;
/** More than this at once are told of in one notice: a machine that was off for a week, a repository that is new to it. */
const MOST_NOTICES = 3;

/**
 * Tells of each open issue whose time has come, once for each time that it is given, by what is cached. It is called
 * by the daemon and by the sweep, one at a time. What is about to be told is written down before, and looked for
 * among the notifications by whoever comes after a kill. Returns how many were told of.
 */
export async function tellDue(deps: ReminderDeps): Promise<number> {
  const config = deps.work.workRepo();
  const { repo } = config;
  const state = privacyState(config, deps.work.clock.now());
  if (repo === undefined || state === 'off' || state === 'public') return 0;
  // Without the lock first: as a rule nothing is due.
  if (untold(deps, repo).length === 0) return 0;
  try {
    return await alone(deps.work, 'reminders', () => tellUntold(deps, repo), 0);
  } catch (error) {
    if (error instanceof StewardError && error.kind === 'locked') return 0;
    throw error;
  }
}

async function tellUntold(deps: ReminderDeps, repo: string): Promise<number> {
  const { telling } = readTold(deps.work, repo);
  if (telling !== null) {
    if (deps.wasTold(telling.key)) note(deps.work, repo, telling.issues);
    else write(deps.work, repo, { telling: null });
  }
  const issues = untold(deps, repo);
  const batches = issues.length > MOST_NOTICES ? [issues] : issues.map((issue) => [issue]);
  for (const batch of batches) {
    const about = batch.map(({ number, due }) => ({ number, due: due ?? '' }));
    const key = keyOf(repo.toLowerCase(), batch);
    if (!deps.wasTold(key)) {
      write(deps.work, repo, { telling: { key, issues: about } });
      await deps.tell({ ...noticeOf(deps.work, batch), key });
    }
    note(deps.work, repo, about);
  }
  return issues.length;
}

/** Open issues that are due and were not told of at that time, the one that is due the longest first. */
function untold({ work }: ReminderDeps, repo: string): Issue[] {
  const nowMs = work.clock.now();
  const at = (issue: Issue): number => parseIso(issue.due ?? '') ?? Infinity;
  const due = work.cache(repo).issues.filter((issue) => issue.state === 'open' && at(issue) <= nowMs);
  if (due.length === 0) return [];
  const { told } = readTold(work, repo);
  return due
    .filter((issue) => told[String(issue.number)]?.due !== issue.due)
    .sort((a, b) => at(a) - at(b) || a.number - b.number);
}

function keyOf(repo: string, issues: readonly Issue[]): string {
  const text = issues.map(({ number, due }) => `${number}@${due}`).join(' ');
  return `reminder:${shortHash(`${repo} ${text}`)}${shortHash(`${text} ${repo}`)}`;
}

function noticeOf(work: WorkDeps, issues: readonly Issue[]): Omit<Notice, 'key'> {
  const textOf = ({ title }: Issue): string => clean(parseTitle(title).text).trim() || 'untitled';
  const [first, ...others] = issues;
  if (first !== undefined && others.length === 0) {
    const message = `${textOf(first)} (due ${dueText(work, first)}, #${first.number})`;
    return { title: 'Reminder', message, url: first.url };
  }
  const named = issues.slice(0, MOST_NOTICES).map((issue) => `${textOf(issue)} (#${issue.number})`);
  const rest = issues.length - named.length;
  const message = `${named.join('; ')}${rest > 0 ? `; and ${rest} more: steward work list --type reminder` : ''}`;
  return { title: `${issues.length} reminders are due`, message };
}

/** `09:00` of today, `Thu 19 Nov 2026, 09:00` of a day before. */
function dueText({ clock, timezone }: WorkDeps, { due }: Issue): string {
  const ms = parseIso(due ?? '') ?? 0;
  const day = dayOf(ms, timezone);
  const time = timeOf(ms, timezone);
  return day === dayOf(clock.now(), timezone) ? time : `${longDay(day)}, ${time}`;
}

function readTold({ paths }: WorkDeps, repo: string): Told {
  const stored = readStored(paths.reminders, StoredTold);
  return stored?.repo === repo.toLowerCase() ? stored : { told: {}, telling: null };
}

function note(work: WorkDeps, repo: string, issues: readonly { number: number; due: string }[]): void {
  const at = toIso(work.clock.now());
  const now = new Map(issues.map(({ number, due }) => [String(number), { due, at }]));
  const kept = Object.entries(readTold(work, repo).told)
    .filter(([number]) => !now.has(number))
    .sort(([, a], [, b]) => (a.at < b.at ? -1 : 1));
  write(work, repo, { told: Object.fromEntries([...kept, ...now].slice(-MAX_TOLD)), telling: null });
}

function write(work: WorkDeps, repo: string, change: Partial<Told>): void {
  const { told, telling } = { ...readTold(work, repo), ...change };
  writeStored(work.paths.reminders, { version: VERSION, repo: repo.toLowerCase(), told, telling });
}
