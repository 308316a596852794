import { failureWords, goTo, namesOf, requestWords } from '../sessions/describe';
import { CLAUDE_CODE } from '../sessions/session-key';
import { isLive, type Session, statusOf } from '../sessions/session';
import type { SessionRow } from '../sessions/rows';
import type { InboxWait, WaitKind } from './row';

/** Adds the usual values of a wait. */
export function waitOf({ id, name, kind, title, why, since, ...more }: NewWait): InboxWait {
  return { id, name, kind, title, why, since, ...USUAL, ...more };
}

const USUAL = { repo: null, branch: null, priority: null, blocks: false, go: null, url: null, canEnd: false };

type NewWait = Pick<InboxWait, 'id' | 'name' | 'kind' | 'title' | 'why' | 'since'> & Partial<InboxWait>;

/** Returns the sessions that wait for an answer, that a limit stopped, or whose turn has ended. */
export function sessionWaits(sessions: readonly Session[], nowMs: number): InboxWait[] {
  const live = sessions.filter((session) => isLive(session, nowMs));
  const waiting = live.filter((session) => statusOf(session, nowMs) === 'waiting' && hasWorked(session));
  const names = waiting.length === 0 ? new Map<string, string>() : namesOf(live);
  return waiting.map((session) => {
    const { slug, repo, branch = null, requests, task, title } = session;
    const { kind, why, since } = reasonOf(session, nowMs);
    return waitOf({
      id: slug,
      slug,
      name: names.get(slug) ?? slug,
      kind,
      why,
      since,
      repo,
      branch,
      title: task ?? title ?? null,
      blocks: requests.length > 0 || kind === 'limit',
      go: goTo(session, names.get(slug) ?? slug),
      canEnd: kind === 'turn' || kind === 'agents',
    });
  });
}

/** A session that has just started waits for its first prompt, and not for you. */
function hasWorked({ updatedAt, startedAt, requests }: Session): boolean {
  return updatedAt !== startedAt || requests.length > 0;
}

/** Returns the sessions of other machines that wait for you. */
export function elsewhereWaits(rows: readonly SessionRow[]): InboxWait[] {
  const waiting = rows.filter(
    ({ status, waitingFor, updatedAt, startedAt }) =>
      status === 'waiting' && (waitingFor !== null || updatedAt !== startedAt),
  );
  return waiting.map(({ slug, name, repo, branch, waitingFor, waitingSince, updatedAt, go, elsewhere }) =>
    waitOf({
      id: slug,
      slug,
      name,
      repo,
      branch,
      go,
      title: null,
      kind: kindOf(waitingFor),
      why: waitingFor ?? 'turn finished',
      since: waitingSince ?? updatedAt,
      blocks: waitingFor !== null,
      canEnd: waitingFor === null,
      ...(elsewhere !== null && { elsewhere }),
    }),
  );
}

function kindOf(why: string | null): WaitKind {
  if (why === null) return 'turn';
  if (why.startsWith('stopped')) return 'limit';
  return why.includes('question') ? 'question' : why.includes('plan') ? 'plan' : 'permission';
}

function reasonOf(session: Session, nowMs: number): { kind: WaitKind; why: string; since: string } {
  const { requests, failure, waitingSince, updatedAt, agentsDoneAt } = session;
  const [oldest] = requests;
  const since = waitingSince ?? updatedAt;
  if (oldest !== undefined) {
    const asks = requestWords(oldest.reason ?? undefined, oldest.tool ?? undefined) ?? 'asks for your input';
    const kind = kindOf(asks);
    const why = canBeHeld(session, kind) ? asks : `${asks}, in its window only`;
    return { kind, why, since };
  }
  if (failure !== undefined) return { kind: 'limit', why: failureWords(failure, nowMs), since };
  if (agentsDoneAt !== undefined) return { kind: 'agents', why: 'agents finished', since: agentsDoneAt };
  return { kind: 'turn', why: 'turn finished', since };
}

/** Returns whether the assistant has a hook that can answer. Codex has one for permissions alone. */
function canBeHeld({ assistant = CLAUDE_CODE }: Session, kind: WaitKind): boolean {
  return assistant === CLAUDE_CODE || (assistant === 'codex' && kind === 'permission');
}

type IssueFacts = Pick<InboxWait, 'title' | 'priority'> & {
  number: number;
  url: string;
  state: string;
  status: string | null;
  updatedAt: string;
  due: string | null;
};

const STATUS_WORDS: Readonly<Record<string, string>> = {
  'needs-human': 'needs you',
  'in-review': 'in review',
};

/** Returns the due reminders, and the issues that need you or are in review. */
export function issueWaits(issues: readonly IssueFacts[], nowMs: number): InboxWait[] {
  return issues.flatMap(({ number, title, url, state, status, priority, updatedAt, due }) => {
    const isDue = due !== null && Date.parse(due) <= nowMs;
    const why = isDue ? 'due' : STATUS_WORDS[status ?? ''];
    if (state !== 'open' || why === undefined) return [];
    const [id, go] = [`#${number}`, `steward work open ${number}`];
    const since = isDue ? due : updatedAt;
    return waitOf({ id, name: id, kind: isDue ? 'reminder' : 'issue', title, why, since, priority, url, go });
  });
}

type WaitingReview = Record<'repo' | 'title' | 'url' | 'updatedAt', string> & { number: number };

export function reviewWaits(reviews: readonly WaitingReview[]): InboxWait[] {
  return reviews.map(({ repo, number, title, url, updatedAt: since }) => {
    const about = { id: `${repo}#${number}`, name: `${repo.replace(/^.*\//, '')}#${number}`, repo };
    return waitOf({ ...about, kind: 'review', title, why: 'review requested', url, since, priority: 'P1' });
  });
}

type Undelivered = Record<'id' | 'at' | 'text', string> & { title: string | null };

/** Returns the notifications that were not delivered. */
export function deliveryWaits(failed: readonly Undelivered[]): InboxWait[] {
  return failed.map(({ id, at: since, title, text }) => {
    const about = { id, name: `notice-${id.slice(-5)}`, title: title ?? text, since, canEnd: true };
    return waitOf({ ...about, kind: 'delivery', why: 'not delivered', go: 'steward notify history' });
  });
}

type CrossedBudget = Record<'id' | 'name' | 'text' | 'since', string> & { percent: number };

/** Returns the budgets of which much is spent. */
export function budgetWaits(budgets: readonly CrossedBudget[]): InboxWait[] {
  return budgets.map(({ id, name, percent, text: title, since }) => {
    const why = `${percent}% used`;
    return waitOf({ id, name, kind: 'budget', title, why, since, go: 'steward usage --check', canEnd: true });
  });
}

type Given<K extends keyof InboxWait> = readonly Pick<InboxWait, 'id' | 'since' | 'go' | K>[];

/** Returns the hosted sessions that wait for you. */
export function hostedWaits(waiting: Given<'why'>): InboxWait[] {
  return waiting.map((one) => waitOf({ ...one, name: one.id, kind: 'hosted', title: null, blocks: true }));
}

/** Returns the assistants whose hooks wait for you. */
export function hooksWaits(waiting: Given<'title'>): InboxWait[] {
  return waiting.map((one) =>
    waitOf({ ...one, name: one.id, kind: 'hooks', why: 'hooks need you', canEnd: one.go === null }),
  );
}
