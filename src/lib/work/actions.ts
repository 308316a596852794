import { randomBytes } from 'node:crypto';

import type { UserConfig } from '../config/schema';
import { StewardError } from '../errors';
import { namedFile } from '../platform/files/named-file';
import { toIso } from '../platform/time/clock';
import { type Item, toItem } from './board';
import { keptIssue, readCache, remember } from './cache';
import { dueWords, readDue, readWhen } from './due';
import { type EnsureDeps, ensureIssue } from './ensure';
import type { Comment, Host, HostIssue } from './host';
import { failureOf } from './host/failure';
import { type Issue, MAX_BODY, titleHolds, withDue } from './issue';
import { typeOf } from './label';
import { staleness } from './poll';
import { openForWriting, privacyState, repoOf } from './privacy';

export interface ActionDeps extends EnsureDeps {
  timezone: UserConfig['timezone'];
}

/** What `work add` and `work remind` made. */
export interface Added extends Item {
  /** Labels that were wanted and that the repository does not have. */
  missingLabels: string[];
}

export interface AddInput {
  title: string;
  body?: string | undefined;
  type?: string | undefined;
  status?: string | undefined;
  priority?: string | undefined;
  property?: string | undefined;
  labels?: readonly string[];
}

/** `work add`: an issue by hand. */
export async function addIssue(deps: ActionDeps, input: AddInput): Promise<Added> {
  const families: [string, string | undefined][] = [
    ['Type', input.type],
    ['Status', input.status ?? 'queued'],
    ['Priority', input.priority?.toUpperCase()],
    ['Property', input.property],
  ];
  const labels = families.flatMap(([family, value]) => (value === undefined ? [] : [`${family}:${value}`]));
  const body = input.body ?? '';
  return make(deps, {
    kind: null,
    text: titleText(input.title),
    body: titleHolds(null, input.title, input.title) ? body : withQuote(body, input.title),
    labels: [...labels, ...(input.labels ?? [])],
  });
}

/** `work remind`: the date is read out of the text, or of `at`. Without any it is a reminder without a time. */
export async function addReminder(
  deps: ActionDeps,
  input: { text: string; at?: string; priority?: string },
): Promise<Added> {
  const options = { nowMs: deps.clock.now(), zone: deps.timezone };
  const read =
    input.at === undefined
      ? await readDue(input.text, options)
      : { text: input.text, dueMs: await readWhen(input.at, options) };
  const due = read.dueMs === undefined ? undefined : toIso(read.dueMs);
  const words = read.dueMs === undefined ? '' : dueWords(read.dueMs, deps.timezone);
  const text = read.text === '' ? input.text : read.text;
  return make(deps, {
    kind: 'reminder',
    text: titleText(text),
    body: titleHolds('reminder', text, input.text) ? words : withQuote(words, input.text),
    labels: [
      'Type:reminder',
      'Status:queued',
      ...(input.priority === undefined ? [] : [`Priority:${input.priority.toUpperCase()}`]),
    ],
    ...(due === undefined ? {} : { due }),
  });
}

function titleText(text: string): string {
  if (text.trim() !== '') return text;
  throw new StewardError('usage', 'There is no title.', { hint: 'Write what it is about in a few words.' });
}

/** The body with a text that the title cuts, as it was typed. */
function withQuote(body: string, text: string): string {
  if (body.includes(text.trim())) return body;
  const quote = text.trim().replace(/^/gm, '> ');
  return body === '' ? quote : `${body}\n\n${quote}`;
}

async function make(
  deps: ActionDeps,
  wanted: { kind: 'reminder' | null; text: string; body: string; labels: string[]; due?: string },
): Promise<Added> {
  const repo = await openForWriting(deps);
  const identity = { kind: 'id', value: randomBytes(8).toString('hex') } as const;
  const made = await ensureIssue(deps, await deps.host(), repo, { identity, ...wanted });
  const item = toItem(made.issue, deps.config.KANBAN_COLUMNS);
  return { ...item, missingLabels: made.missingLabels };
}

export interface Closed extends Item {
  comment: string;
}

/**
 * `work close`: the evidence becomes the comment, then the issue is closed as completed (service.md: Work issue
 * status). Killed between the two, the same command run again does not comment twice.
 *
 * @param evidence the text, or `@FILE`
 */
export async function closeIssue(
  deps: ActionDeps,
  input: { number: number; evidence: string },
): Promise<Closed> {
  const text = evidenceText(input.evidence);
  const repo = await openForWriting(deps);
  const host = await deps.host();
  const issue = await host.issue(repo, input.number);
  if (issue.state === 'closed') {
    throw new StewardError('conflict', `#${input.number} is closed already.`, {
      hint: 'Look at it with `steward work show NUMBER`.',
    });
  }
  return closeWith(deps, host, repo, issue, text);
}

/** Says the evidence and closes an open issue as completed; what was said last is not said again. */
export async function closeWith(
  deps: Pick<ActionDeps, 'paths' | 'config'>,
  host: Host,
  repo: string,
  { number, url }: Pick<HostIssue, 'number' | 'url'>,
  text: string,
): Promise<Closed> {
  const comment = await addComment(host, repo, { number, url }, text);
  const closed = await host.updateIssue(repo, number, { state: 'closed', stateReason: 'completed' });
  remember(deps, repo, closed);
  return { ...toItem(keptIssue(closed), deps.config.KANBAN_COLUMNS), comment: comment.url };
}

/** Comments once: what was said last is not said again by a command that was killed and runs again. */
export async function addComment(
  host: Host,
  repo: string,
  { number, url }: Pick<HostIssue, 'number' | 'url'>,
  text: string,
): Promise<{ url: string }> {
  const last = (await host.comments(repo, number)).at(-1);
  return last?.body === text ? { url } : host.comment(repo, number, text);
}

const EVIDENCE_FILE = { maxBytes: 4 * MAX_BODY, instead: 'or write the evidence itself, without the @' };

function evidenceText(evidence: string): string {
  const text = evidence.startsWith('@') ? namedFile(evidence.slice(1), EVIDENCE_FILE) : evidence;
  if (text.trim() === '') {
    throw new StewardError('usage', 'The evidence is empty.', {
      hint: 'Say what shows that it is done: a commit, a link, the output of a test.',
    });
  }
  if (text.length > MAX_BODY) {
    throw new StewardError('usage', `The evidence has ${text.length} characters; ${MAX_BODY} is the most.`, {
      hint: 'Shorten it, or put it into the repository and name it.',
    });
  }
  return text.trimEnd();
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

export async function showIssue(deps: ActionDeps, number: number): Promise<Shown> {
  const config = deps.workRepo();
  const repo = repoOf(config);
  if (privacyState(config, deps.clock.now()) !== 'public') {
    try {
      const host = await deps.host();
      const issue = await host.issue(repo, number);
      const comments = await host.comments(repo, number);
      return shown(deps, issue, comments);
    } catch (error) {
      const reason = failureOf(error)?.reason;
      if (reason === undefined ? !isAuth(error) : reason === 'missing' || reason === 'gone') throw error;
      return cached(deps, repo, number, error instanceof Error ? error.message : null);
    }
  }
  return cached(deps, repo, number, staleness(deps, config).staleReason);
}

function isAuth(error: unknown): boolean {
  return error instanceof StewardError && error.kind === 'auth';
}

function shown(deps: ActionDeps, issue: HostIssue, comments: Comment[]): Shown {
  return {
    ...toItem(keptIssue(issue), deps.config.KANBAN_COLUMNS),
    body: issue.body,
    comments,
    fromCache: false,
    staleReason: null,
  };
}

function cached(deps: ActionDeps, repo: string, number: number, reason: string | null): Shown {
  const issue: Issue | undefined = readCache(deps.paths.cache, repo).issues.find(
    (one) => one.number === number,
  );
  if (issue === undefined) {
    throw new StewardError(
      'unavailable',
      `#${number} is not in what was read before. ${reason ?? ''}`.trim(),
      {
        hint: 'Run it again when the service can be reached.',
      },
    );
  }
  return {
    ...toItem(issue, deps.config.KANBAN_COLUMNS),
    body: null,
    comments: null,
    fromCache: true,
    staleReason: reason,
  };
}

/** What `work snooze` gives: the reminder, and when it is due now. */
export interface Snoozed extends Item {
  /** ISO-8601 UTC. */
  due: string;
}

/**
 * `work snooze`: gives a reminder another time, in the hidden marker of its body; what else stands there stays. It is
 * told of again then. An issue that is no reminder, or is closed, is `conflict`.
 *
 * @param input.when `2h`, `tomorrow 9am`
 */
export async function snooze(deps: ActionDeps, input: { number: number; when: string }): Promise<Snoozed> {
  const { timezone, clock } = deps;
  // To the second: a time of its own, so that it is told of even where it comes round to the same minute.
  const dueMs =
    Math.floor((await readWhen(input.when, { nowMs: clock.now(), zone: timezone })) / 1000) * 1000;
  const repo = await openForWriting(deps);
  const host = await deps.host();
  const issue = await host.issue(repo, input.number);
  const kept = keptIssue(issue);
  if (issue.state === 'closed') {
    throw new StewardError('conflict', `#${input.number} is closed.`, {
      hint: 'Open it again first, or make a new one: `steward work remind TEXT`.',
    });
  }
  if (kept.due === null && typeOf(issue.labels) !== 'reminder') {
    throw new StewardError('conflict', `#${input.number} is no reminder.`, {
      hint: '`steward work list --type reminder` shows those there are.',
    });
  }
  const due = toIso(dueMs);
  const body = withDue(issue.body, due, dueWords(dueMs, timezone));
  if (body.length > MAX_BODY) {
    throw new StewardError('conflict', `The text of #${input.number} has no room for a time.`, {
      hint: 'Shorten it by hand.',
    });
  }
  const changed = await host.updateIssue(repo, input.number, { body });
  remember(deps, repo, changed);
  return { ...toItem(keptIssue(changed), deps.config.KANBAN_COLUMNS), due };
}
