import { StewardError } from '../errors';
import { namedFile } from '../platform/files/system-files';
import { toIso } from '../platform/time/clock';
import { toItem, type Item } from './board';
import { cacheIssue, readCache } from './cache';
import type { OpenRepo, WorkDeps } from './deps';
import { dueWords, readWhen } from './due';
import type { Comment } from './host/github-read';
import type { HostIssue } from './issue';
import { failureOf, isGone } from './host/failure';
import { MAX_BODY, toIssue, withDue } from './issue';
import { typeOf } from './label';
import { staleness } from './poll';
import { conflict, currentPrivacy, openForWriting, refuseClosed, repoOf } from './privacy';

/** Runs `work snooze`: changes the due time in the body of an open reminder. `due` is ISO 8601 in UTC. */
export async function snooze(deps: WorkDeps, { number, when }: { number: number; when: string }) {
  const { timezone, clock } = deps;
  const whenMs = await readWhen(when, { nowMs: clock.now(), zone: timezone });
  // Keep the seconds, so that snoozing to the same minute twice sends a second notification.
  const dueMs = Math.floor(whenMs / 1000) * 1000;
  const open = await openForWriting(deps);
  const issue = await open.host.issue(open.repo, number);
  refuseClosed(issue, 'Reopen it first, or create a new reminder: `steward work remind TEXT`.');
  if (toIssue(issue).due === null && typeOf(issue.labels) !== 'reminder')
    throw conflict(
      `#${number} is not a reminder.`,
      'List your reminders with `steward work list --type reminder`.',
    );
  const due = toIso(dueMs);
  const body = withDue(issue.body, due, dueWords(dueMs, timezone));
  if (body.length > MAX_BODY)
    throw conflict(`The description of #${number} is too long to add a due time.`, 'Shorten it on GitHub.');
  return { ...changed(open, await open.host.updateIssue(open.repo, number, { body })), due };
}

/** Caches a changed issue and converts it to a board item. */
export function changed({ deps, repo }: OpenRepo, issue: HostIssue): Item {
  const after = toIssue(issue);
  cacheIssue(deps, repo, after);
  return toItem(after, deps.config.KANBAN_COLUMNS);
}

export interface Closed extends Item {
  /** The URL of the comment with the evidence. */
  comment: string;
}

/** Runs `work close`: adds the evidence as a comment, then closes the issue as completed. */
export async function closeIssue(deps: WorkDeps, input: { number: number; evidence: string }) {
  const text = input.evidence.trimEnd();
  const usage = (message: string, hint: string): StewardError => new StewardError('usage', message, { hint });
  if (text === '') throw usage('The evidence is empty.', 'Provide a commit, a link or test output.');
  if (text.length > MAX_BODY) {
    const message = `The evidence is ${text.length} characters long; the maximum is ${MAX_BODY}.`;
    throw usage(message, 'Shorten it, or commit it as a file and link to the file.');
  }
  const open = await openForWriting(deps);
  const issue = await open.host.issue(open.repo, input.number);
  if (issue.state === 'open') return closeWith(open, issue, text);
  throw conflict(`#${input.number} is already closed.`, `Run \`steward work show ${input.number}\`.`);
}

/** Adds the evidence as a comment and closes an open issue as completed. */
export async function closeWith(open: OpenRepo, issue: HostIssue, text: string): Promise<Closed> {
  const { host, repo } = open;
  const comment = await addComment(open, issue, text);
  const closed = await host.updateIssue(repo, issue.number, { state: 'closed', stateReason: 'completed' });
  return { ...changed(open, closed), comment: comment.url };
}

/**
 * Adds a comment, unless the last comment is identical. A rerun after a crash therefore adds no duplicate.
 */
export async function addComment(
  { host, repo }: OpenRepo,
  { number, url }: Pick<HostIssue, 'number' | 'url'>,
  text: string,
): Promise<{ url: string }> {
  const last = (await host.comments(repo, number)).at(-1);
  return last?.body === text ? { url } : host.comment(repo, number, text);
}

/** Returns the text, or the content of FILE for `@FILE`. */
export function textOrFile(text: string, what: 'evidence' | 'body'): string {
  if (!text.startsWith('@')) return text;
  const instead = `or pass the ${what} itself, without the @`;
  return namedFile(text.slice(1), { maxBytes: 4 * MAX_BODY, instead });
}

export interface ShownItem extends Item {
  /** The issue's body; `null` if the issue was read from the cache. */
  body: string | null;
  comments: Comment[] | null;
  fromCache: boolean;
  /** Why the request to GitHub failed; `null` if it succeeded. */
  staleReason: string | null;
}

/** Runs `work show`: fetches an issue, or reads it from the cache if GitHub cannot be reached. */
export async function showIssue(deps: WorkDeps, number: number): Promise<ShownItem> {
  const config = deps.workRepo();
  const repo = repoOf(config);
  const columns = deps.config.KANBAN_COLUMNS;
  let { staleReason } = staleness(deps, config);
  if (currentPrivacy(deps) !== 'public') {
    try {
      const host = await deps.host();
      const issue = await host.issue(repo, number);
      const comments = await host.comments(repo, number);
      const { body } = issue;
      return { ...toItem(toIssue(issue), columns), body, comments, fromCache: false, staleReason: null };
    } catch (error) {
      if (!(error instanceof StewardError) || isGone(error)) throw error;
      if (failureOf(error) === undefined && error.kind !== 'auth') throw error;
      staleReason = error.message;
    }
  }
  const issue = readCache(deps.paths.cache, repo).issues.find((each) => each.number === number);
  if (issue !== undefined)
    return { ...toItem(issue, columns), body: null, comments: null, fromCache: true, staleReason };
  throw new StewardError('unavailable', `#${number} is not cached. ${staleReason ?? ''}`.trim(), {
    hint: 'Try again once GitHub is reachable.',
  });
}
