import { isRepo } from './commits';
import type {
  IssueFacts,
  Report,
  ReportClosed,
  ReportCommit,
  ReportInput,
  ReportIssue,
  ReportSession,
} from './model';

const UNDER_WAY: ReadonlySet<string | null> = new Set(['in-progress', 'in-review', 'blocked', 'needs-human']);

/** What became of the issues in the period: each once, where it says most. */
export function issuesOf(
  all: readonly IssueFacts[],
  { period, repo, evidence }: Pick<ReportInput, 'period' | 'repo' | 'evidence'>,
  commits: readonly ReportCommit[],
  sessions: readonly ReportSession[],
): NonNullable<Report['issues']> {
  const isIn = (iso: string | null): boolean => {
    const ms = Date.parse(iso ?? '');
    return ms >= period.startMs && ms < period.endMs;
  };
  const named = naming(commits);
  const slugs = new Set(sessions.map(({ slug }) => slug));
  const numbers = new Set(sessions.map(({ issue }) => issue));
  // The issues of all repositories lie in one: which are this one's is told by its name, sessions and commits.
  const isOwn = (issue: IssueFacts): boolean =>
    repo === undefined ||
    isRepo(issue.property, repo) ||
    named.has(issue.number) ||
    numbers.has(issue.number) ||
    (issue.slug !== null && slugs.has(issue.slug));
  const own = all.filter(isOwn).sort((a, b) => a.number - b.number);
  const closed = own.filter(({ state, closedAt }) => state === 'closed' && isIn(closedAt));
  const underWay = own.filter(
    ({ state, status }) => period.current && state === 'open' && UNDER_WAY.has(status),
  );
  const shown = new Set([...closed, ...underWay]);
  return {
    closed: closed.map((issue): ReportClosed => ({
      ...rowOf(issue),
      completed: issue.completed,
      evidence: evidence.get(issue.number) ?? null,
      commits: named.get(issue.number) ?? [],
    })),
    inProgress: underWay.map(rowOf),
    opened: own.filter((issue) => isIn(issue.createdAt) && !shown.has(issue)).map(rowOf),
  };
}

/** The commits that name an issue, such as `Fix the login (#12)`. */
function naming(commits: readonly ReportCommit[]): Map<number, string[]> {
  const found = new Map<number, string[]>();
  for (const { sha, subject } of commits) {
    for (const [, digits] of subject.matchAll(/(?<![\w#/])#([1-9]\d{0,8})\b/g)) {
      const number = Number(digits);
      const shas = found.get(number) ?? [];
      if (!shas.includes(sha)) found.set(number, [...shas, sha]);
    }
  }
  return found;
}

function rowOf(issue: IssueFacts): ReportIssue {
  const { number, title, url, status, priority, property, createdAt, closedAt } = issue;
  return { number, title, url, status, priority, property, createdAt, closedAt };
}
