import type { DayFacts, IssueFacts, ReportInput } from '../../src/lib/report/model';
import type { Session } from '../../src/lib/sessions/session';
import { dayBounds } from '../../src/lib/platform/time/time';

/** A report of two days with nothing in them, and what a test puts there. */
export function reportInput(more: Partial<ReportInput> = {}): ReportInput {
  const [from, to, timezone] = ['2026-11-19', '2026-11-20', 'Europe/Berlin'];
  return {
    period: {
      ...{ from, to, timezone, current: true },
      startMs: dayBounds(from, timezone).startMs,
      endMs: dayBounds(to, timezone).endMs,
    },
    repo: undefined,
    days: [day('2026-11-19'), day('2026-11-20')],
    spelling: (app) => app,
    pollIntervalSec: 120,
    sessions: [],
    issues: [],
    evidence: new Map(),
    notes: [],
    ...more,
  };
}

/** A day whose raw log is kept, with nothing in it. */
export function day(date: string, more: Partial<DayFacts> = {}): DayFacts {
  const none = { totalMinutes: 0, creationMinutes: 0, consumptionMinutes: 0 };
  return { date, apps: [], ...none, commits: [], sessions: [], raw: { commits: [], activity: [] }, ...more };
}

/** A commit as it is captured. */
export function captured(
  subject: string,
  at: string,
  more: { repo?: string; path?: string; sha?: string } = {},
) {
  const { repo = 'website', path = `/src/${repo}`, sha = `${subject}${at}` } = more;
  return { repo, path, sha, subject, at, change: `${at}\n${subject}` };
}

export function issue(number: number, more: Partial<IssueFacts> = {}): IssueFacts {
  return {
    number,
    title: `Issue ${number}`,
    url: `https://example.org/issues/${number}`,
    state: 'open',
    completed: true,
    status: 'queued',
    priority: null,
    property: null,
    slug: null,
    createdAt: '2026-10-01T10:00:00.000Z',
    closedAt: null,
    ...more,
  };
}

export function session(slug: string, more: Partial<Session> = {}): Session {
  const startedAt = more.startedAt ?? '2026-11-20T09:00:00.000Z';
  return {
    slug,
    sessionIds: [`id-${slug}`],
    mode: 'algorithm',
    task: `Task ${slug}`,
    project: null,
    effort: null,
    repo: 'website',
    phase: 'verify',
    artifact: null,
    startedAt,
    updatedAt: startedAt,
    activity: 'working',
    requests: [],
    turnAt: null,
    agents: [],
    phaseHistory: [],
    github_issue: null,
    github_issue_url: null,
    terminal: null,
    machine: null,
    ...more,
  };
}
