import type { Issue } from '../issue';

/**
 * The code-hosting service as work tracking needs it. One adapter: GitHub. Every call throws a StewardError in plain
 * words: `auth` (no or a refused credential, no right), `not_found` (404, 410), `conflict` (422, moved, archived),
 * `unavailable` (offline, reset, limits, 5xx): after such a write nobody knows whether it took effect.
 */
export interface Host {
  /** Tells tokens apart without telling them; ETags hold for one token. */
  tokenHash: string;
  /** How many requests were sent, and what the service said is left of the hour. */
  usage: () => { requests: number; remaining: number | null };
  repository(repo: string): Promise<Repository>;
  /** Makes a private repository, for the user or an organisation of theirs. */
  createRepository(repo: string): Promise<Repository>;
  /**
   * Every issue (no pull requests) that changed at or after `since`, all of them without it. With the `etag` of
   * the same question `unchanged` when nothing has, at the cost of one request that does not count.
   */
  issues(repo: string, query: { since?: string; etag?: string }): Promise<Conditional<Issue[]>>;
  issue(repo: string, number: number): Promise<HostIssue>;
  /** Sent once: never repeated by itself. */
  createIssue(repo: string, issue: NewIssue): Promise<HostIssue>;
  updateIssue(repo: string, number: number, change: IssueChange): Promise<HostIssue>;
  addLabels(repo: string, number: number, labels: readonly string[]): Promise<string[]>;
  /** One that is not on the issue is removed already. */
  removeLabel(repo: string, number: number, label: string): Promise<void>;
  comment(repo: string, number: number, body: string): Promise<{ url: string }>;
  comments(repo: string, number: number): Promise<Comment[]>;
  /** Label events of an issue, oldest first. */
  labelEvents(repo: string, number: number): Promise<LabelEvent[]>;
  labels(repo: string, query: { etag?: string }): Promise<Conditional<HostLabel[]>>;
  createLabel(repo: string, label: HostLabel): Promise<void>;
}

/** `malformed`: how many items were skipped, since they cannot be right. */
export type Conditional<T> =
  { unchanged: true } | { unchanged: false; value: T; etag: string | null; malformed: number };

export interface Repository {
  id: number;
  /** As the service spells it. */
  repo: string;
  url: string;
  visibility: string;
  hasIssues: boolean;
  archived: boolean;
  /** May this credential write? null: the service did not say. */
  canWrite: boolean | null;
}

/** An issue with its text. */
export type HostIssue = Omit<Issue, 'identity' | 'due'> & { body: string };

export interface NewIssue {
  title: string;
  body: string;
  labels: readonly string[];
}

export interface IssueChange {
  title?: string;
  body?: string;
  state?: 'open' | 'closed';
  stateReason?: 'completed' | 'not_planned' | 'reopened';
}

export interface Comment {
  author: string;
  body: string;
  createdAt: string;
}

export interface LabelEvent {
  id: number;
  event: 'labeled' | 'unlabeled';
  label: string;
  at: string;
}

export interface HostLabel {
  name: string;
  /** Six hex digits. */
  color: string;
  description: string;
}
