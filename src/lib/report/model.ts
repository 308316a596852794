import type { Day } from '../platform/time/time';
import type { PhaseId } from '../sessions/phases';
import type { Session } from '../sessions/session';
import type { Period } from './period';

/** What is stored of one day. Minutes have one decimal. */
export interface DayFacts {
  date: Day;
  apps: readonly { app: string; kind: 'creation' | 'consumption' | 'neutral'; minutes: number }[];
  totalMinutes: number;
  creationMinutes: number;
  consumptionMinutes: number;
  commits: readonly { repo: string; commits: number }[];
  /** Ids of the assistant's sessions. */
  sessions: readonly string[];
  /** Read back later: its application time is not recorded. */
  backfilled?: true;
  /** The raw log of the day; undefined once it is discarded, and with it what only it tells. */
  raw?: {
    commits: readonly CommitFacts[];
    /** Polls in which a session of the repository did something. */
    activity: readonly { repo: string; session: string; atMs: number }[];
  };
}

export interface ReportCommit {
  repo: string;
  sha: string;
  subject: string;
  /** When it was committed, ISO-8601 UTC. */
  at: string;
}

export interface CommitFacts extends ReportCommit {
  /** Path of the repository; empty when it is not known. */
  path: string;
  /** Tells a change from others of its repository, however often it was captured. */
  change: string;
}

export interface ReportIssue {
  number: number;
  /** Without prefix and marks. */
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
  /** Closed as completed, not as not planned or as a duplicate. */
  completed: boolean;
  slug: string | null;
}

/** All that a report is made of: the same input gives the same report. */
export interface ReportInput {
  period: Period;
  /** Only what is of this repository. */
  repo: string | undefined;
  /** The days of the period that anything is stored of, in any order. */
  days: readonly DayFacts[];
  pollIntervalSec: number;
  sessions: readonly Session[];
  /** Undefined: there is no work repository. */
  issues: readonly IssueFacts[] | undefined;
  /** By issue number: what was said when it was closed. */
  evidence: ReadonlyMap<number, string>;
  /** What could not be read, in sentences. */
  notes: readonly string[];
}

/** `steward standup --json` and `steward week --json`. Lists are in the order in which they are shown. */
export interface Report {
  from: Day;
  to: Day;
  timezone: string;
  repo: string | null;
  totalMinutes: number;
  creationMinutes: number;
  consumptionMinutes: number;
  apps: { app: string; kind: string; minutes: number }[];
  /** `assistantMinutes`: in which an assistant session did something there; null: no raw log is kept of any day. */
  repos: { repo: string; commits: number; sessions: number; assistantMinutes: number | null }[];
  commits: { count: number; items: ReportCommit[] };
  sessions: { count: number; items: ReportSession[] };
  issues: {
    closed: ReportClosed[];
    /** Now: left empty for a period that is over. */
    inProgress: ReportIssue[];
    opened: ReportIssue[];
  } | null;
  /** What this report cannot know, in sentences. */
  notKnown: string[];
}

export interface ReportSession {
  slug: string;
  task: string | null;
  repo: string | null;
  project: string | null;
  /** Those that it was in, in order. */
  phases: PhaseId[];
  issue: number | null;
}

export interface ReportClosed extends ReportIssue {
  completed: boolean;
  /** What was said when it was closed, where that was asked for. */
  evidence: string | null;
  /** Commits of the period whose subject names it. */
  commits: string[];
}
