import { join } from 'node:path';

import { toStewardError } from '../errors';
import { readText } from '../platform/files/atomic-file';
import { branchOf, gitFolderAt, type GitFolder } from '../platform/files/git-folder';
import { textOf } from '../platform/files/json-object';
import { gitIn } from '../platform/process/git';
import { plural } from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import { unrestrictedRepos } from '../sessions/restricted';
import { parseIso, toIso } from '../platform/time/clock';
import { addDays, dayBounds, dayOf, type Day } from '../platform/time/time';
import { appendEvents, isOpen, openRun, type CaptureDeps } from './capture';
import { changeOf, type SenseEvent } from '../time/event';
import { commitEvent, type GitSourceDeps } from './git';
import { newWork } from './git/identity';
import { repositoryIds } from './git/memory';
import { emailsOf, readRecentLog } from './git/queries';
import { refuseOddFiles } from './git/refs';
import { rollKeepingTime } from './roll';
import type { SenseState } from './state';

/** A time when an assistant session was active, read from the assistant's files. */
export interface PastActivity {
  session: string;
  repo?: string;
  ms: number;
}

export interface BackfillDeps extends CaptureDeps {
  git: GitSourceDeps & { config: { sources: { git: boolean; agentSession: boolean } } };
  /** Calls `take` for each time since `sinceMs` when a session was active. */
  pastActivity: (sinceMs: number, take: (activity: PastActivity) => void) => void;
  onProgress?: (done: number, total: number) => void;
}

const AT_ONCE = 6;
const GIT_TIMEOUT_MS = 20_000;
/** Maximum number of commits to read per repository. The newest are read first. */
const MAX_COMMITS = 20_000;

/**
 * Adds missing commits and assistant sessions from the last `days` days. The caller must hold the sense lock.
 */
export async function backfill(deps: BackfillDeps, { days, dryRun }: { days: number; dryRun: boolean }) {
  const nowMs = deps.clock.now();
  const today = dayOf(nowMs, deps.timezone);
  const from = addDays(today, -days);
  /** `problems` are the repositories that could not be read, and why. */
  const result = { enabled: deps.config.enabled, dryRun, from, to: today, problems: [] as string[] };
  const none = { ...result, commits: 0, sessions: 0, days: [] as Day[] };
  if (!deps.config.enabled || days === 0) return none;
  const { run, state } = openRun(deps, dryRun);
  const sinceMs = dayBounds(from, deps.timezone).startMs;
  const events = [
    ...(deps.git.config.sources.git ? await commitsSince(deps, sinceMs, result.problems) : []),
    ...(deps.git.config.sources.agentSession ? sessionsSince(deps, sinceMs, nowMs) : []),
  ];
  const fresh = withoutStored(deps, state, events, today);
  const added = {
    ...none,
    ...countsOf(fresh),
    days: [...new Set(fresh.map(({ ts }) => dayOf(parseIso(ts) ?? 0, deps.timezone)))].sort(),
  };
  if (dryRun || fresh.length === 0) return added;
  appendEvents(run, state, fresh);
  rollKeepingTime(
    deps,
    state,
    added.days.filter((day) => day < today),
  );
  return { ...added, problems: [...added.problems, ...run.problems] };
}

export type BackfillResult = Awaited<ReturnType<typeof backfill>>;

function countsOf(events: readonly SenseEvent[]) {
  const commits = events.filter(({ type }) => type === 'git-commit').length;
  const sessions = new Set(events.flatMap(({ detail }) => textOf(detail?.['session']) ?? []));
  return { commits, sessions: sessions.size };
}

/** Drops events that are already stored, and events on days that no longer accept events. */
function withoutStored(
  { store, timezone, clock }: BackfillDeps,
  { cursors }: SenseState,
  events: readonly SenseEvent[],
  today: Day,
): SenseEvent[] {
  const idOf = repositoryIds(cursors['git'], clock.now());
  const known = new Set<string>();
  for (const day of store.loggedDays())
    for (const event of store.readLog(day).events) known.add(keyOf(event, day, idOf));
  const open = new Map<Day, boolean>();
  return events.filter((event) => {
    const day = dayOf(parseIso(event.ts) ?? 0, timezone);
    if (!open.has(day)) open.set(day, isOpen(store, day, today));
    return (
      open.get(day) === true && !known.has(keyOf(event, day, idOf)) && !known.has(movedKeyOf(event) ?? '')
    );
  });
}

/** Returns the key of a stored or new event. */
function keyOf(event: SenseEvent, day: Day, idOf: ReturnType<typeof repositoryIds>): string {
  const { type, detail } = event;
  if (type !== 'git-commit') return JSON.stringify([type, detail?.['session'], day]);
  const path = textOf(detail?.['path']);
  const id = idOf(path);
  return (
    (id === undefined ? movedKeyOf(event) : undefined) ??
    JSON.stringify(['commit', id ?? path, changeOf(event)])
  );
}

/** The key of a commit whose stored path has no repository, because it was moved or deleted. */
function movedKeyOf({ type, detail }: SenseEvent): string | undefined {
  const sha = textOf(detail?.['sha']);
  return type !== 'git-commit' || sha === undefined ? undefined : JSON.stringify(['moved', sha]);
}

/**
 * Returns your commits from before today, because captures read today's commits. Adds unreadable repositories
 * to `problems`.
 */
async function commitsSince(deps: BackfillDeps, sinceMs: number, problems: string[]): Promise<SenseEvent[]> {
  const folders = new Map<string, GitFolder>();
  for (const [path, found] of unrestrictedRepos(deps.git.config.repos)) {
    try {
      const folder = found ?? gitFolderAt(path);
      if (folder === undefined) problems.push(`${clean(path)}: not a git repository.`);
      else if (!folders.has(folder.id)) folders.set(folder.id, folder);
    } catch (error) {
      problems.push(`${clean(path)}: ${toStewardError(error).message}`);
    }
  }
  const queue = [...folders.values()];
  const events: SenseEvent[] = [];
  const warn = (folder: GitFolder, text: string): unknown => problems.push(`${clean(folder.root)}: ${text}`);
  let done = 0;
  const work = async (): Promise<void> => {
    for (let folder = queue.shift(); folder !== undefined; folder = queue.shift()) {
      try {
        events.push(...(await commitsIn(deps, folder, sinceMs, warn)));
      } catch (error) {
        warn(folder, toStewardError(error).message);
      }
      done += 1;
      deps.onProgress?.(done, folders.size);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return events.sort((a, b) => (a.ts < b.ts ? -1 : Number(a.ts > b.ts)));
}

async function commitsIn(
  deps: BackfillDeps,
  folder: GitFolder,
  sinceMs: number,
  warn: (folder: GitFolder, text: string) => unknown,
): Promise<SenseEvent[]> {
  refuseOddFiles(folder);
  const { run, env, config, machineId, yours = [] } = deps.git;
  const git = gitIn(
    { run, timeoutMs: () => GIT_TIMEOUT_MS, ...(env === undefined ? {} : { env }) },
    folder.root,
  );
  const nowMs = deps.clock.now();
  const todayMs = dayBounds(dayOf(nowMs, deps.timezone), deps.timezone).startMs;
  const since = { sinceSec: Math.floor(sinceMs / 1000), limit: MAX_COMMITS };
  const log = await readRecentLog(git, since, branchOf(folder.gitDir));
  if (log.length === 0) return [];
  // git shows the commits in this file without their parents, which a shallow clone does not have.
  const shallow = readText(join(folder.commonDir, 'shallow'), { followLink: true }) ?? '';
  if (log.some(({ commit }) => shallow.includes(commit.sha)))
    warn(folder, 'shallow clone, so older commits are missing. Run "git fetch --unshallow" there.');
  const emails = await emailsOf(git, { authors: config.git.authors, yours });
  const own = log.filter(({ commit: { email, committedSec } }) => {
    const ms = committedSec * 1000;
    return ms >= sinceMs && ms < todayMs && (emails?.includes(email.toLowerCase()) ?? true);
  });
  const branches = new Map(own.map(({ commit, branch }) => [commit.sha, branch]));
  const { counted } = await newWork(
    git,
    own.map(({ commit }) => commit),
    { seen: [], lost: [], held: [] },
  );
  return counted.map((item) => {
    const event = commitEvent(
      { ...item, branch: branches.get(item.commit.sha) ?? undefined },
      folder,
      machineId,
      nowMs,
    );
    return { ...event, detail: { ...event.detail, backfilled: true } };
  });
}

function sessionsSince(deps: BackfillDeps, sinceMs: number, nowMs: number): SenseEvent[] {
  const intervalMs = deps.config.pollIntervalSec * 1000;
  const events = new Map<string, SenseEvent & { detail: { events: number } }>();
  deps.pastActivity(sinceMs, ({ session, repo, ms }) => {
    if (ms < sinceMs || ms > nowMs) return;
    const key = `${Math.floor(ms / intervalMs)}\n${session}`;
    const known = events.get(key);
    if (known === undefined) {
      const detail = { session, events: 1, machine: deps.git.machineId, backfilled: true };
      const where = repo === undefined ? {} : { repo };
      events.set(key, { ts: toIso(ms), type: 'agent-session', source: 'agentSession', ...where, detail });
    } else known.detail.events += 1;
  });
  return [...events.values()].sort((a, b) => (a.ts < b.ts ? -1 : Number(a.ts > b.ts)));
}

export function backfillText({ enabled, dryRun, from, commits, sessions, days }: BackfillResult): string {
  if (!enabled) return 'Nothing was added: sense.enabled is false.';
  const what = `${plural(commits, 'commit')} and ${plural(sessions, 'session')}`;
  if (days.length === 0) return `No earlier days to add since ${from}.`;
  return `${dryRun ? 'Would add' : 'Added'} ${what} on ${plural(days.length, 'day')} since ${from}.`;
}
