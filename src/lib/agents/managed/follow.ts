import type { FollowEnd } from './view';
import { StewardError, toStewardError } from '../../errors';
import { plural } from '../../platform/terminal/format';
import { targetOf, type SentEvent } from './event';
import { failureOf, isTransient, pause } from './failure';
import { sendPending, type SendDeps } from './outbox';
import { catchUp, drain, openReader, readFrames, type EventReader } from './reader';
import { sendAnswers, sendInterrupt } from './send';
import type { SessionLog } from './session-log';
import {
  addEvent,
  beginTurn,
  costOf,
  newTurn,
  outcomeOf,
  pendingTools,
  totalUsage,
  type TurnOutcome,
  type ToolUse,
  type Turn,
} from './turn';

interface FollowDeps extends SendDeps {
  log: SessionLog;
  /** Returns responses to the pending tool uses that this machine can answer. */
  answer: (pending: readonly ToolUse[]) => Promise<SentEvent[]>;
  say: (text: string) => void;
}

export interface FollowInput {
  session: string;
  /** When to stop following: at the end of the turn or of the session. */
  until: 'turn' | 'session';
  /** Cost limit in USD. The agent is interrupted when the cost reaches the limit. */
  maxCost?: number | undefined;
  /** Ids of events that were just sent. The turn doesn't end until the log contains these events. */
  sent?: readonly string[];
  /** Whether the service reports the session as idle. */
  isIdle?: boolean;
}

interface Following {
  deps: FollowDeps;
  input: FollowInput;
  turn: Turn;
  reader: EventReader;
  isOverCost: boolean;
  sent: string[];
  sentSince: number;
}

/** Number of consecutive failures before a message is shown. */
const REPORT_AFTER = 2;
/** How long to wait for a sent event to appear in the history, in multiples of `lagMs`. */
const MAX_LAGS = 6;

/**
 * Follows a session until the turn or the session ends, and shows each event once. The stream may repeat,
 * reorder or miss events, so a stream event only triggers a read of the history.
 */
export async function follow(deps: FollowDeps, input: FollowInput): Promise<FollowEnd> {
  const { clock, timing, log } = deps;
  const turn = newTurn();
  log.replay((event) => addEvent(turn, event));
  const reader = openReader({ ...deps, turn }, input.session);
  const sent = [...(input.sent ?? [])];
  const following = { deps, input, turn, reader, isOverCost: false, sent, sentSince: clock.monotonic() };
  const health = { failures: 0, wasReached: false, failingSince: clock.monotonic() };
  await log.show();
  for (;;) {
    let failure: unknown;
    try {
      const end = await followStream(following, () => {
        Object.assign(health, { failures: 0, wasReached: true, failingSince: clock.monotonic() });
      });
      if (end !== undefined) return end;
    } catch (error) {
      if (!isTransient(error)) throw error;
      failure = error;
      const { failures, wasReached, failingSince } = health;
      const isLost = wasReached
        ? clock.monotonic() - failingSince > timing.patienceMs
        : failures + 1 >= timing.tries;
      if (isLost) throw lostError(error, input.session);
      if (wasReached && failures === REPORT_AFTER)
        deps.say(`${toStewardError(error).message} Retrying; the session continues.`);
    }
    await pause(deps, health.failures, failure);
    health.failures += 1;
  }
}

/** Follows the session over one connection. Returns the outcome, or undefined if the connection was lost. */
async function followStream(at: Following, onProgress: () => void): Promise<FollowEnd | undefined> {
  const frames = await readFrames(await at.deps.client.stream(at.input.session));
  try {
    await catchUp(at.reader);
    do {
      onProgress();
      const end = await settle(at);
      if (end !== undefined) return end;
    } while (await drain(at.reader, frames));
    return undefined;
  } finally {
    frames.close();
  }
}

/**
 * Responds to the agent's tool uses or sends a pending message. Returns the outcome, or undefined if the turn
 * continues.
 */
async function settle(at: Following): Promise<FollowEnd | undefined> {
  const { input, turn } = at;
  if (!isOver(turn) && isWaitingForSent(at)) return undefined;
  const waiting = pendingTools(turn);
  if (waiting.length > 0) {
    const hasAnswers = await answerAll(at, waiting);
    const open = pendingTools(turn);
    if (open.length > 0 && !hasAnswers && input.until === 'turn') {
      const message = `The agent is waiting for ${open.length === 1 ? 'an answer' : plural(open.length, 'answer')}`;
      return endOf(at, { reason: 'requires_action', kind: 'conflict', message }, open);
    }
  } else if (!isOver(turn) && (await sendUnsent(at))) return undefined;
  await checkCost(at);
  const outcome = outcomeOf(turn);
  if (outcome !== undefined && (input.until === 'turn' || isOver(turn))) {
    const stopped = { kind: 'canceled', message: 'The agent was interrupted at the cost limit' } as const;
    return endOf(at, at.isOverCost ? { ...outcome, ...stopped } : outcome);
  }
  return input.isIdle === true && turn.status === 'unknown' && input.until === 'turn'
    ? endOf(at, { reason: 'idle', kind: undefined, message: 'idle' })
    : undefined;
}

function endOf({ deps, input, turn }: Following, outcome: TurnOutcome, pending: ToolUse[] = []): FollowEnd {
  const cost = costOf(totalUsage(turn.meter));
  return { session: input.session, outcome, pending, cost, events: deps.log.count() };
}

/** Responds to the pending tool uses. Returns whether any response was sent. */
async function answerAll({ deps, input, turn, reader }: Following, waiting: readonly ToolUse[]) {
  const answers = await deps.answer(waiting);
  await sendAnswers(deps, input.session, answers).catch(async (error: unknown) => {
    if (failureOf(error)?.status !== 400) throw error;
    // Status 400 may mean that another client has already responded.
    await catchUp(reader);
    const open = new Set(pendingTools(turn).map(({ id }) => id));
    if (waiting.some(({ id }) => open.has(id))) throw error;
  });
  for (const answer of answers) turn.answered.add(targetOf(answer) ?? '');
  return answers.length > 0;
}

/** Sends the message that an interrupted run left pending. Returns false if no message is pending. */
async function sendUnsent(at: Following): Promise<boolean> {
  const { deps, input, turn, reader } = at;
  const sent = await sendPending(deps, input.session);
  if (sent === undefined) return false;
  if (sent.id === undefined || !deps.log.has(sent.id)) beginTurn(turn);
  if (sent.id !== undefined) at.sent.push(sent.id);
  at.sentSince = deps.clock.monotonic();
  await catchUp(reader);
  return true;
}

/** Returns whether to keep waiting for a sent event. After a time limit, warns the user and stops waiting. */
function isWaitingForSent(at: Following): boolean {
  const { clock, timing, log, say } = at.deps;
  at.sent = at.sent.filter((id) => !log.has(id));
  if (at.sent.length === 0 || at.reader.hasHistory === false) return false;
  at.reader.isIncomplete = true;
  if (clock.monotonic() - at.sentSince <= MAX_LAGS * timing.lagMs) return true;
  say(
    `The service accepted ${at.sent.join(', ')}, but the history does not show it yet. Run "steward agents managed wake" later.`,
  );
  at.sent = [];
  return false;
}

async function checkCost(at: Following): Promise<void> {
  const { deps, input, turn } = at;
  if (input.maxCost === undefined || at.isOverCost || turn.status !== 'running') return;
  const { totalUsd } = costOf(totalUsage(turn.meter));
  if (totalUsd < input.maxCost) return;
  at.isOverCost = true;
  deps.say(`The cost has reached ${totalUsd.toFixed(2)} USD; interrupting the agent.`);
  await sendInterrupt(deps, input.session);
}

function isOver({ status }: Turn): boolean {
  return status === 'terminated' || status === 'deleted';
}

function lostError(error: unknown, session: string): unknown {
  if (!(error instanceof StewardError)) return error;
  const hint =
    `${error.hint ?? ''} The session may still be running. To resume it: steward agents managed wake ${session}`.trim();
  return new StewardError(error.kind, error.message, { hint, cause: error.cause });
}
