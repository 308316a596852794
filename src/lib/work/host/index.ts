import type { HostIssue, Issue, Review } from '../issue';
import type { Comment, HostLabel, LabelEvent, Repository } from './github-read';

/**
 * A client for the code host. Throws only StewardErrors: `auth`, `not_found`, `conflict` (rejected, moved,
 * archived) or `unavailable`. After `unavailable`, a write may still have taken effect.
 */
export interface Host {
  /** A hash of the token. An ETag is valid only for the token used to request it. */
  tokenHash: string;
  /** Returns the number of requests sent, and the number of requests remaining in the hourly limit. */
  usage: () => { requests: number; remaining: number | null };
  /** Returns the login of the account that the token belongs to. */
  login(): Promise<string>;
  repository(repo: string): Promise<Repository>;
  /** Creates a private repository for the user or one of their organizations. */
  createRepository(repo: string): Promise<Repository>;
  /**
   * Returns issues (not pull requests) changed at or after `since`. Returns `unchanged` if `etag` still
   * matches; such a response doesn't count toward GitHub's rate limit.
   */
  issues(repo: string, query: { since?: string; etag?: string }): Promise<Conditional<Issue[]>>;
  /** Returns the open pull requests that you are asked to review. */
  reviews(query: { etag?: string }): Promise<Conditional<Review[]>>;
  issue(repo: string, number: number): Promise<HostIssue>;
  /** Creates an issue. Never retries. */
  createIssue(repo: string, issue: NewIssue): Promise<HostIssue>;
  updateIssue(repo: string, number: number, change: IssueChange): Promise<HostIssue>;
  addLabels(repo: string, number: number, labels: readonly string[]): Promise<string[]>;
  /** Removes a label. Does nothing if the issue doesn't have the label. */
  removeLabel(repo: string, number: number, label: string): Promise<void>;
  comment(repo: string, number: number, body: string): Promise<{ url: string }>;
  comments(repo: string, number: number): Promise<Comment[]>;
  labelEvents(repo: string, number: number): Promise<LabelEvent[]>;
  labels(repo: string, query: { etag?: string }): Promise<Conditional<HostLabel[]>>;
  createLabel(repo: string, label: HostLabel): Promise<void>;
}

/** `malformed`: number of malformed items that were skipped. */
export type Conditional<T> =
  { unchanged: true } | { unchanged: false; value: T; etag: string | null; malformed: number };

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
