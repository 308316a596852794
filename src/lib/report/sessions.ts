import { byCodeUnits } from '../platform/files/order';
import type { PhaseId } from '../sessions/phases';
import type { Session } from '../sessions/session';
import { isRepo } from './commits';
import type { DayFacts, ReportInput, ReportSession } from './model';

export interface Sessions {
  /** Those of the list, and those that are known by their id only. */
  count: number;
  items: ReportSession[];
  repos: Map<string, { sessions: number; minutes: number }>;
  /** Is a raw log kept of any day? */
  hasRaw: boolean;
}

/**
 * The sessions in which something happened in the period: by the captured events of its days, or because they began,
 * ended or changed their phase in it. Those with a task first, in the order in which they began.
 */
export function sessionsOf(
  all: readonly Session[],
  days: readonly DayFacts[],
  { period, repo, pollIntervalSec }: Pick<ReportInput, 'period' | 'repo' | 'pollIntervalSec'>,
): Sessions {
  const isIn = (iso: string): boolean => {
    const ms = Date.parse(iso);
    return ms >= period.startMs && ms < period.endMs;
  };
  const seen = new Set(days.flatMap((day) => day.sessions));
  const own = all.filter(
    (session) =>
      isRepo(session.repo, repo) &&
      (isIn(session.startedAt) ||
        isIn(session.updatedAt) ||
        session.phaseHistory.some(({ at }) => isIn(at)) ||
        session.sessionIds.some((id) => seen.has(id))),
  );
  own.sort((a, b) => byCodeUnits(key(a), key(b)));
  const activity = days.flatMap((day) => day.raw?.activity ?? []).filter((one) => isRepo(one.repo, repo));
  const known = new Set(all.flatMap(({ sessionIds }) => sessionIds));
  // Of a session that the state has forgotten only its raw events tell the repository.
  const ids = repo === undefined ? [...seen] : [...new Set(activity.map(({ session }) => session))];
  const forgotten = new Set(ids.filter((id) => !known.has(id)));
  return {
    count: own.length + forgotten.size,
    items: own.map((session) => rowOf(session, period)),
    repos: byRepo(own, activity, forgotten, pollIntervalSec),
    hasRaw: days.some(({ raw }) => raw !== undefined),
  };
}

type Activity = NonNullable<DayFacts['raw']>['activity'][number];

function byRepo(
  sessions: readonly Session[],
  activity: readonly Activity[],
  forgotten: ReadonlySet<string>,
  pollIntervalSec: number,
): Sessions['repos'] {
  const repos = new Map<string, { sessions: Set<string>; polls: Set<number> }>();
  const of = (repo: string) => {
    const row = repos.get(repo) ?? { sessions: new Set(), polls: new Set() };
    repos.set(repo, row);
    return row;
  };
  for (const { repo, slug } of sessions) if (repo !== null) of(repo).sessions.add(slug);
  for (const { repo, session, atMs } of activity) {
    const row = of(repo);
    // Sessions side by side take one person's time once.
    row.polls.add(Math.floor(atMs / (pollIntervalSec * 1000)));
    if (forgotten.has(session)) row.sessions.add(`\n${session}`);
  }
  return new Map(
    [...repos].map(([repo, row]) => [
      repo,
      { sessions: row.sessions.size, minutes: Math.round((row.polls.size * pollIntervalSec) / 6) / 10 },
    ]),
  );
}

function rowOf(session: Session, period: ReportInput['period']): ReportSession {
  const { slug, task, repo, project, github_issue: issue } = session;
  return { slug, task, repo, project, phases: phasesOf(session, period), issue };
}

/** The phase that it was in when the period began, if it had begun, and those that it came to. */
function phasesOf(session: Session, { startMs, endMs }: ReportInput['period']): PhaseId[] {
  const history = session.phaseHistory.filter(({ at }) => Date.parse(at) < endMs);
  if (history.length === 0) return session.phaseHistory.length === 0 ? [session.phase] : [];
  const first = history.findIndex(({ at }) => Date.parse(at) >= startMs);
  const from = first === -1 ? history.length - 1 : Math.max(0, first - 1);
  return history.slice(from).map(({ phase }) => phase);
}

function key({ task, startedAt, slug }: Session): string {
  return `${task === null ? 1 : 0}\n${startedAt}\n${slug}`;
}
