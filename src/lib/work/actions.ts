import { StewardError } from '../errors';
import { namedFile } from '../platform/files/system-files';
import { toIso } from '../platform/time/clock';
import { toItem, type Item } from './board';
import { readCache, remember } from './cache';
import type { Open, WorkDeps } from './deps';
import { dueWords, readWhen } from './due';
import type { Comment, HostIssue } from './host';
import { failureOf, isGone } from './host/failure';
import { keptIssue, MAX_BODY, withDue } from './issue';
import { typeOf } from './label';
import { staleness } from './poll';
import { openForWriting, privacyState, repoOf } from './privacy';

/** What `work snooze` gives: the reminder, and when it is due now, ISO-8601 UTC. */
export interface Snoozed extends Item {
  due: string;
}

/**
 * `work snooze`: gives a reminder another time, in the hidden marker of its body; what else stands there stays. An
 * issue that is no reminder, or is closed, is `conflict`.
 *
 * @param input.when `2h`, `tomorrow 9am`
 */
export async function snooze(deps: WorkDeps, input: { number: number; when: string }): Promise<Snoozed> {
  const { timezone, clock } = deps;
  const whenMs = await readWhen(input.when, { nowMs: clock.now(), zone: timezone });
  // To the second: a time of its own, so that it is told of even where it comes round to the same minute.
  const dueMs = Math.floor(whenMs / 1000) * 1000;
  const open = await openForWriting(deps);
  const issue = await open.host.issue(open.repo, input.number);
  const conflict = (message: string, hint: string): StewardError =>
    new StewardError('conflict', message, { hint });
  if (issue.state === 'closed')
    throw conflict(`#${input.number} is closed.`, 'Reopen it first, or run `steward work remind TEXT`.');
  if (keptIssue(issue).due === null && typeOf(issue.labels) !== 'reminder')
    throw conflict(`#${input.number} is no reminder.`, 'List them with `steward work list --type reminder`.');
  const due = toIso(dueMs);
  const body = withDue(issue.body, due, dueWords(dueMs, timezone));
  if (body.length > MAX_BODY)
    throw conflict(`The text of #${input.number} has no room for a time.`, 'Shorten it by hand.');
  return { ...changed(open, await open.host.updateIssue(open.repo, input.number, { body })), due };
}

/** Remembers what a write answered, and gives it as a card. */
export function changed({ deps, repo }: Open, issue: HostIssue): Item {
  remember(deps, repo, issue);
  return toItem(keptIssue(issue), deps.config.KANBAN_COLUMNS);
}

export interface Closed extends Item {
  comment: string;
}

/**
 * `work close`: the evidence becomes the comment, then the issue is closed as completed. Killed between the two, the
 * same command run again does not comment twice.
 *
 * @param evidence the text, or `@FILE`
 */
export async function closeIssue(
  deps: WorkDeps,
  input: { number: number; evidence: string },
): Promise<Closed> {
  const text = textOrFile(input.evidence, 'evidence').trimEnd();
  const usage = (message: string, hint: string): StewardError => new StewardError('usage', message, { hint });
  if (text === '') {
    const hint = 'Say what shows that it is done: a commit, a link, the output of a test.';
    throw usage('The evidence is empty.', hint);
  }
  if (text.length > MAX_BODY) {
    const message = `The evidence has ${text.length} characters; ${MAX_BODY} is the most.`;
    throw usage(message, 'Shorten it, or put it into the repository and name it.');
  }
  const open = await openForWriting(deps);
  const issue = await open.host.issue(open.repo, input.number);
  if (issue.state === 'open') return closeWith(open, issue, text);
  throw new StewardError('conflict', `#${input.number} is closed already.`, {
    hint: 'Look at it with `steward work show NUMBER`.',
  });
}

/** Says the evidence and closes an open issue as completed. */
export async function closeWith(open: Open, issue: HostIssue, text: string): Promise<Closed> {
  const { host, repo } = open;
  const comment = await addComment(open, issue, text);
  const closed = await host.updateIssue(repo, issue.number, { state: 'closed', stateReason: 'completed' });
  return { ...changed(open, closed), comment: comment.url };
}

/** Comments once: what was said last is not said again by a command that was killed and runs again. */
export async function addComment(
  { host, repo }: Open,
  { number, url }: Pick<HostIssue, 'number' | 'url'>,
  text: string,
): Promise<{ url: string }> {
  const last = (await host.comments(repo, number)).at(-1);
  return last?.body === text ? { url } : host.comment(repo, number, text);
}

/** The text itself, or that of the file behind an `@`. */
export function textOrFile(text: string, what: 'evidence' | 'body'): string {
  if (!text.startsWith('@')) return text;
  const instead = `or write the ${what} itself, without the @`;
  return namedFile(text.slice(1), { maxBytes: 4 * MAX_BODY, instead });
}

/** `work show`: one issue with its text and comments; from the cache, without them, where the service is away. */
export interface Shown extends Item {
  /** null: only the cached state could be read. */
  body: string | null;
  comments: Comment[] | null;
  /** The service could not be asked; `staleReason` says why. */
  fromCache: boolean;
  staleReason: string | null;
}

export async function showIssue(deps: WorkDeps, number: number): Promise<Shown> {
  const config = deps.workRepo();
  const repo = repoOf(config);
  const columns = deps.config.KANBAN_COLUMNS;
  let { staleReason } = staleness(deps, config);
  if (privacyState(config, deps.clock.now()) !== 'public') {
    try {
      const host = await deps.host();
      const issue = await host.issue(repo, number);
      const comments = await host.comments(repo, number);
      const { body } = issue;
      return { ...toItem(keptIssue(issue), columns), body, comments, fromCache: false, staleReason: null };
    } catch (error) {
      if (!(error instanceof StewardError) || isGone(error)) throw error;
      if (failureOf(error) === undefined && error.kind !== 'auth') throw error;
      staleReason = error.message;
    }
  }
  const issue = readCache(deps.paths.cache, repo).issues.find((one) => one.number === number);
  if (issue !== undefined)
    return { ...toItem(issue, columns), body: null, comments: null, fromCache: true, staleReason };
  throw new StewardError('unavailable', `#${number} is not cached. ${staleReason ?? ''}`.trim(), {
    hint: 'Run it again when the service can be reached.',
  });
}
