import type { Day } from '../platform/time/time';
import type { PhaseId } from '../sessions/phases';
import type { Session } from '../sessions/session';
import type { TimeRow } from '../time/ledger/rows';
import type { MachineRow } from '../time/machines/model';
import type { Period } from '../platform/time/period';

/** A day's stored data. Minutes are rounded to one decimal place. */
export interface DayFacts {
  date: Day;
  apps: readonly { app: string; kind: 'creation' | 'consumption' | 'neutral'; minutes: number }[];
  totalMinutes: number;
  creationMinutes: number;
  consumptionMinutes: number;
  commits: readonly { repo: string; commits: number }[];
  sessions: readonly string[];
  /** Set if the day was backfilled. Backfilled days have no application time. */
  backfilled?: true;
  /** Details from the event log; undefined once the log has been deleted. */
  raw?: {
    commits: readonly CommitFacts[];
    /** Polls that found an active session in the repository. */
    activity: readonly { repo: string; session: string; atMs: number }[];
  };
  /** Commit counts from other machines, which don't publish subjects. */
  elsewhere?: readonly { repo: string; commits: number }[];
}

export interface ReportCommit {
  repo: string;
  sha: string;
  subject: string;
  /** Commit time, ISO 8601 in UTC. */
  at: string;
}

export interface CommitFacts extends ReportCommit {
  /** Path of the repository; empty if unknown. */
  path: string;
  /** Identifies the change within its repository, and stays the same after a rebase. */
  change: string;
}

export interface ReportIssue {
  number: number;
  /** The title without steward's prefix and suffix, such as `[slug:fix-login]`. */
  title: string;
  url: string;
  status: string | null;
  priority: string | null;
  property: string | null;
  createdAt: string;
  closedAt: string | null;
}

export interface IssueFacts extends ReportIssue {
  state: 'open' | 'closed';
  /** Whether the issue was closed as "completed" rather than "not planned". */
  completed: boolean;
  slug: string | null;
}

export interface ReportInput {
  period: Period;
  /** Limits the report to this repository. */
  repo: string | undefined;
  /** Days with data, in any order. */
  days: readonly DayFacts[];
  /** Returns the most used spelling of an application's name. */
  spelling: (app: string) => string;
  pollIntervalSec: number;
  sessions: readonly Session[];
  /** `undefined` if there is no work repository. */
  issues: readonly IssueFacts[] | undefined;
  /** Closing comments by issue number. */
  evidence: ReadonlyMap<number, string>;
  /** Sentences about data that could not be read. */
  notes: readonly string[];
  usage?: UsageFacts;
  time?: TimeRow[];
  machines?: readonly MachineRow[];
}

export interface UsageFacts {
  rows: readonly (UsedTokens & { key: string })[];
  total: UsedTokens & { unpriced: number };
}

interface UsedTokens {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** Cost in USD; null if no price is known. */
  cost: number | null;
}

export interface ReportOptions {
  repo?: string | undefined;
  /** Whether to fetch the last comment on each closed issue from GitHub. */
  evidence: boolean;
  reminders: boolean;
  usage?: boolean;
  machine?: string | undefined;
  maxDays?: number;
}

/** The output of `steward standup --json` and `steward week --json`. Lists are in display order. */
export interface Report {
  from: Day;
  to: Day;
  timezone: string;
  repo: string | null;
  /** These are null if no day was recorded, and in a report about one repository. */
  totalMinutes: number | null;
  creationMinutes: number | null;
  consumptionMinutes: number | null;
  apps: { app: string; kind: string; minutes: number }[];
  /** `assistantMinutes` is the time with session activity, or null if there is no event log. */
  repos: { repo: string; commits: number; sessions: number; assistantMinutes: number | null }[];
  commits: { count: number; items: ReportCommit[] };
  sessions: { count: number; items: ReportSession[] };
  issues: {
    closed: ReportClosed[];
    /** Issues in progress; empty for a past period. */
    inProgress: ReportIssue[];
    opened: ReportIssue[];
  } | null;
  /** The assistants' usage, only in a weekly report. */
  usage?: UsageFacts;
  /** Your time and your agents' time by repository; absent if no repository is known. */
  time?: TimeRow[];
  /** The merged machines; absent if there is only one. */
  machines?: readonly MachineRow[];
  /** Sentences about the gaps in the report. */
  notKnown: string[];
}

export interface ReportSession {
  slug: string;
  task: string | null;
  repo: string | null;
  project: string | null;
  /** Phases in chronological order. */
  phases: PhaseId[];
  issue: number | null;
}

export interface ReportClosed extends ReportIssue {
  completed: boolean;
  /** The closing comment, if requested. */
  evidence: string | null;
  /** Commits in the period whose subject mentions the issue. */
  commits: string[];
}
