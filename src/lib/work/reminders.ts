import { join } from 'node:path';

import type { UserConfig } from '../config/schema';
import { StewardError } from '../errors';
import { readText, replaceFile } from '../platform/files/atomic-file';
import { parseIso, toIso } from '../platform/time/clock';
import { longDay } from '../platform/terminal/format';
import { isObject, parseObject } from '../platform/files/json-object';
import { withLock } from '../platform/files/lock';
import { shortHash } from '../platform/files/short-hash';
import { clean } from '../platform/terminal/terminal';
import { dayOf, timeOf } from '../platform/time/time';
import type { BoardDeps } from './board';
import type { EnsureDeps } from './ensure';
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

export interface ReminderDeps extends Pick<BoardDeps, 'clock' | 'workRepo' | 'cache'> {
  locks: EnsureDeps['locks'];
  machineId: EnsureDeps['machineId'];
  timezone: UserConfig['timezone'];
  /** `work/reminders.json` */
  reminders: string;
  /** Did a notice with this key go out, as the notifications know it? */
  wasTold: (key: string) => boolean;
  tell: (notice: Notice) => Promise<unknown>;
}

interface DueIssue {
  number: number;
  due: string;
}

/** For one repository: what was told of, and what was about to be. */
interface Told {
  /** Number → the time that it was due at, and when it was told of; ISO-8601 UTC. */
  told: Record<string, { due: string; at: string }>;
  telling: { key: string; issues: DueIssue[] } | null;
}

const VERSION = 1;
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_TOLD = 5000;
/** More than this at once are told of in one notice: a machine that was off for a week, a repository that is new to it. */
const MOST_NOTICES = 3;

/**
 * Tells of each open issue whose time has come, once for each time that it is given: of what is cached, so that a
 * network is not needed. It is called by the daemon and by the sweep, one at a time. What is about to be told is
 * written down before, and looked for among the notifications by whoever comes after a kill. Returns how many were
 * told of.
 */
export async function tellDue(deps: ReminderDeps): Promise<number> {
  const config = deps.workRepo();
  const state = privacyState(config, deps.clock.now());
  const { repo } = config;
  if (repo === undefined || state === 'setup' || state === 'off' || state === 'public') return 0;
  // Without the lock first: as a rule nothing is due.
  if (untold(deps, repo).length === 0) return 0;
  const { clock, machineId } = deps;
  try {
    const lock = { clock, machineId, waitMs: 0 };
    return await withLock(join(deps.locks, 'work-reminders.lock'), lock, () => tellUntold(deps, repo));
  } catch (error) {
    if (error instanceof StewardError && error.kind === 'locked') return 0;
    throw error;
  }
}

async function tellUntold(deps: ReminderDeps, repo: string): Promise<number> {
  const { telling } = readTold(deps.reminders, repo);
  if (telling !== null) {
    if (deps.wasTold(telling.key)) note(deps, repo, telling.issues);
    else write(deps, repo, { ...readTold(deps.reminders, repo), telling: null });
  }
  const issues = untold(deps, repo);
  const batches = issues.length > MOST_NOTICES ? [issues] : issues.map((issue) => [issue]);
  for (const batch of batches) {
    const key = keyOf(repo, batch);
    const about = batch.map(({ number, due }) => ({ number, due: due ?? '' }));
    if (!deps.wasTold(key)) {
      write(deps, repo, { ...readTold(deps.reminders, repo), telling: { key, issues: about } });
      await deps.tell(noticeOf(deps, batch, key));
    }
    note(deps, repo, about);
  }
  return issues.length;
}

/** Open issues that are due and were not told of at that time, the one that is due the longest first. */
function untold(deps: ReminderDeps, repo: string): Issue[] {
  const nowMs = deps.clock.now();
  const due = dueIssues(deps.cache(repo).issues, nowMs);
  if (due.length === 0) return [];
  const { told } = readTold(deps.reminders, repo);
  return due.filter((issue) => told[String(issue.number)]?.due !== issue.due);
}

function dueIssues(issues: readonly Issue[], nowMs: number): Issue[] {
  const at = (issue: Issue): number => parseIso(issue.due ?? '') ?? Infinity;
  return issues
    .filter((issue) => issue.state === 'open' && issue.due !== null && at(issue) <= nowMs)
    .sort((a, b) => at(a) - at(b) || a.number - b.number);
}

function keyOf(repo: string, issues: readonly Issue[]): string {
  const text = issues.map(({ number, due }) => `${number}@${due}`).join(' ');
  return `reminder:${shortHash(`${repo.toLowerCase()} ${text}`)}${shortHash(`${text} ${repo.toLowerCase()}`)}`;
}

function noticeOf(deps: ReminderDeps, issues: readonly Issue[], key: string): Notice {
  const [first, ...others] = issues;
  if (first !== undefined && others.length === 0) {
    const message = `${textOf(first)} (due ${dueText(deps, first)}, #${first.number})`;
    return { title: 'Reminder', message, url: first.url, key };
  }
  const named = issues.slice(0, MOST_NOTICES).map((issue) => `${textOf(issue)} (#${issue.number})`);
  const rest = issues.length - named.length;
  const message = `${named.join('; ')}${rest > 0 ? `; and ${rest} more: steward work list --type reminder` : ''}`;
  return { title: `${issues.length} reminders are due`, message, key };
}

function textOf({ title }: Issue): string {
  return clean(parseTitle(title).text).trim() || 'untitled';
}

/** `09:00` of today, `Thu 19 Nov 2026, 09:00` of a day before. */
function dueText({ clock, timezone }: ReminderDeps, { due }: Issue): string {
  const ms = parseIso(due ?? '') ?? 0;
  const day = dayOf(ms, timezone);
  const time = timeOf(ms, timezone);
  return day === dayOf(clock.now(), timezone) ? time : `${longDay(day)}, ${time}`;
}

function readTold(path: string, repo: string): Told {
  const stored = parseObject(readText(path, { maxBytes: MAX_BYTES }) ?? '');
  const none: Told = { told: {}, telling: null };
  if (stored?.['version'] !== VERSION || stored['repo'] !== repo.toLowerCase()) return none;
  const { told, telling } = stored;
  const isTelling =
    isObject(telling) && typeof telling['key'] === 'string' && Array.isArray(telling['issues']);
  return {
    told: isObject(told) ? (told as Told['told']) : {},
    telling: isTelling ? (telling as unknown as Told['telling']) : null,
  };
}

function note(deps: ReminderDeps, repo: string, issues: readonly DueIssue[]): void {
  const at = toIso(deps.clock.now());
  const { told } = readTold(deps.reminders, repo);
  const now = issues.map(({ number, due }) => [String(number), { due, at }] as const);
  const numbers = new Set(now.map(([number]) => number));
  const kept = Object.entries(told)
    .filter(([number]) => !numbers.has(number))
    .sort(([, a], [, b]) => (a.at < b.at ? -1 : 1));
  write(deps, repo, { told: Object.fromEntries([...kept, ...now].slice(-MAX_TOLD)), telling: null });
}

function write(deps: ReminderDeps, repo: string, told: Told): void {
  replaceFile(deps.reminders, `${JSON.stringify({ version: VERSION, repo: repo.toLowerCase(), ...told })}\n`);
}
