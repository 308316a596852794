import type { DayFacts, Report, ReportInput } from './model';
import { commitsOf, type Commits } from './commits';
import { issuesOf } from './issues';
import { sessionsOf, type Sessions } from './sessions';
import { notKnown } from './not-known';
import { byCodeUnits } from '../platform/files/order';

/**
 * What was done in a period. Pure: no clock, no files; the same input in any order gives the same report. Nothing is
 * guessed: what is not known is said in `notKnown`.
 */
export function buildReport(input: ReportInput): Report {
  const { period, repo } = input;
  const days = [...input.days]
    .filter(({ date }) => date >= period.from && date <= period.to)
    .sort((a, b) => byCodeUnits(a.date, b.date));
  const commits = commitsOf(days, repo);
  const sessions = sessionsOf(input.sessions, days, input);
  // The time of an application is not known by repository.
  const timed = repo === undefined ? days : [];
  return {
    from: period.from,
    to: period.to,
    timezone: period.timezone,
    repo: repo ?? null,
    totalMinutes: total(timed, (day) => day.totalMinutes),
    creationMinutes: total(timed, (day) => day.creationMinutes),
    consumptionMinutes: total(timed, (day) => day.consumptionMinutes),
    apps: appsOf(timed),
    repos: reposOf(commits, sessions),
    commits: { count: commits.count, items: commits.items },
    sessions: { count: sessions.count, items: sessions.items },
    issues: input.issues === undefined ? null : issuesOf(input.issues, input, commits.items, sessions.items),
    notKnown: notKnown(input, days, commits),
  };
}

function appsOf(days: readonly DayFacts[]): Report['apps'] {
  const tenths = new Map<string, { app: string; kind: string; tenths: number }>();
  for (const { app, kind, minutes } of days.flatMap((day) => day.apps)) {
    const key = `${kind}\n${app}`;
    const row = tenths.get(key) ?? { app, kind, tenths: 0 };
    row.tenths += Math.round(minutes * 10);
    tenths.set(key, row);
  }
  return [...tenths.values()]
    .sort((a, b) => b.tenths - a.tenths || byCodeUnits(a.app, b.app) || byCodeUnits(a.kind, b.kind))
    .map(({ app, kind, tenths: sum }) => ({ app, kind, minutes: sum / 10 }));
}

function reposOf(commits: Commits, sessions: Sessions): Report['repos'] {
  const names = new Set([...commits.repos.keys(), ...sessions.repos.keys()]);
  return [...names]
    .map((repo) => ({
      repo,
      commits: commits.repos.get(repo) ?? 0,
      sessions: sessions.repos.get(repo)?.sessions ?? 0,
      assistantMinutes: sessions.hasRaw ? (sessions.repos.get(repo)?.minutes ?? 0) : null,
    }))
    .sort(
      (a, b) =>
        b.commits - a.commits ||
        (b.assistantMinutes ?? 0) - (a.assistantMinutes ?? 0) ||
        b.sessions - a.sessions ||
        byCodeUnits(a.repo, b.repo),
    );
}

/** In tenths, so that sums of decimals do not depend on their order. */
function total(days: readonly DayFacts[], of: (day: DayFacts) => number): number {
  return days.reduce((sum, day) => sum + Math.round(of(day) * 10), 0) / 10;
}
