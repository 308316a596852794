import { StewardError, toStewardError } from '../../errors';
import { pause, failureOf, isTransient } from './failure';
import { targetOf, type SentEvent } from './event';
import { sendPending, type SendDeps } from './outbox';
import { openReader, readFrames, type Reader } from './reader';
import { sendAnswers, sendInterrupt } from './send';
import type { SessionLog } from './session-log';
import { costOf, openTurn, type Cost, type Outcome, type Prices, type ToolUse, type Turn } from './turn';

export interface FollowDeps extends SendDeps {
  log: SessionLog;
  prices: Prices;
  /** Answers to what the agent waits for; none for what cannot be answered here. */
  answer: (pending: readonly ToolUse[]) => Promise<SentEvent[]>;
  say: (text: string) => void;
}

export interface FollowInput {
  session: string;
  /** `turn`: to the end of the turn. `session`: until the session is over. */
  until: 'turn' | 'session';
  /** USD; beyond it the agent is interrupted. */
  maxCost?: number;
  /** Ids of events that were just sent: the end is not reported before they are shown. */
  sent?: readonly string[];
  /** The service says that the session is idle: without a single event there is nothing to wait for. */
  isIdle?: boolean;
}

export interface FollowEnd {
  session: string;
  outcome: Outcome;
  /** What the agent waits for; none unless the outcome's reason is `requires_action`. */
  pending: ToolUse[];
  cost: Cost;
  events: number;
}

interface Following {
  deps: FollowDeps;
  input: FollowInput;
  turn: Turn;
  reader: Reader;
  costStopped: boolean;
  /** What was sent and has to be seen, and since when. */
  sent: string[];
  sentSince: number;
}

/** Failed tries in a row after which a person who waits is told. */
const TALK_AFTER = 2;
/** A history may lag so many times longer than usual before it is not believed to show what was sent. */
const LAGS = 6;

/**
 * Follows a session, sends what is to be sent, and answers what can be answered. Every event of the session's log is
 * stored and shown once, in the order of the log, whatever the connection does: the stream is opened, all of the
 * history is read, then the stream is drained, and what it shows makes the history be read on. The stream alone has
 * no replay, and may show events twice, in another order, or never; the history has it right, a little later.
 */
export async function follow(deps: FollowDeps, input: FollowInput): Promise<FollowEnd> {
  const { clock, timing, log } = deps;
  const turn = openTurn();
  log.replay((event) => turn.add(event));
  const reader = openReader({ ...deps, turn }, input.session);
  const sent = [...(input.sent ?? [])];
  const at: Following = { deps, input, turn, reader, costStopped: false, sent, sentSince: clock.monotonic() };
  const health = { tried: 0, reached: false, failingSince: clock.monotonic() };
  await log.show();
  for (;;) {
    let failure: unknown;
    try {
      const end = await followStream(at, () => {
        Object.assign(health, { tried: 0, reached: true, failingSince: clock.monotonic() });
      });
      // The end of the stream before that of the session is a drop, not a success.
      if (end !== undefined) return end;
    } catch (error) {
      if (!isTransient(error)) throw error;
      failure = error;
      const { tried, reached, failingSince } = health;
      const lost = reached ? clock.monotonic() - failingSince > timing.patienceMs : tried + 1 >= timing.tries;
      if (lost) throw given(error, input.session);
      if (reached && tried === TALK_AFTER)
        deps.say(`${toStewardError(error).message} Trying again; the session goes on.`);
    }
    await pause(deps, health.tried, failure);
    health.tried += 1;
  }
}

/** Follows one connection to its end; the end of what is followed, if it came. */
async function followStream(at: Following, onProgress: () => void): Promise<FollowEnd | undefined> {
  const frames = await readFrames(await at.deps.client.stream(at.input.session));
  try {
    await at.reader.catchUp();
    do {
      onProgress();
      const end = await settle(at);
      if (end !== undefined) return end;
    } while (await at.reader.drain(frames));
    return undefined;
  } finally {
    frames.close();
  }
}

/** Does what the state of the session asks for; the end, when there is one. */
async function settle(at: Following): Promise<FollowEnd | undefined> {
  const { input, turn } = at;
  if (!isOver(turn) && awaitsSent(at)) return undefined;
  const waiting = turn.pending();
  if (waiting.length > 0) {
    const answered = await answerAll(at, waiting);
    const left = turn.pending();
    if (left.length > 0 && !answered && input.until === 'turn') {
      const count = left.length === 1 ? 'an answer' : `${left.length} answers`;
      const message = `The agent waits for ${count}`;
      return ended(at, { reason: 'requires_action', kind: 'conflict', message }, left);
    }
  } else if (!isOver(turn) && (await sendLeft(at))) return undefined;
  await watchCost(at);
  const outcome = turn.outcome();
  if (outcome !== undefined && (input.until === 'turn' || isOver(turn))) {
    const stopped = { kind: 'canceled', message: 'The agent was interrupted at the cost limit' } as const;
    return ended(at, at.costStopped ? { ...outcome, ...stopped } : outcome);
  }
  return input.isIdle === true && turn.status() === 'unknown' && input.until === 'turn'
    ? ended(at, { reason: 'idle', kind: undefined, message: 'idle' })
    : undefined;
}

function ended({ deps, input, turn }: Following, outcome: Outcome, pending: ToolUse[] = []): FollowEnd {
  const cost = costOf(turn.usage(), deps.prices);
  return { session: input.session, outcome, pending, cost, events: deps.log.count() };
}

/** Answers what the agent waits for; false when there is no answer. */
async function answerAll(
  { deps, input, turn, reader }: Following,
  waiting: readonly ToolUse[],
): Promise<boolean> {
  const answers = await deps.answer(waiting);
  await sendAnswers(deps, input.session, answers).catch(async (error: unknown) => {
    if (failureOf(error)?.status !== 400) throw error;
    // While a person thought about it, the session may have gone on without the answer.
    await reader.catchUp();
    const still = new Set(turn.pending().map(({ id }) => id));
    if (waiting.some(({ id }) => still.has(id))) throw error;
  });
  for (const answer of answers) turn.answered(targetOf(answer) ?? '');
  return answers.length > 0;
}

/** Sends what a killed process left; true when there was something. */
async function sendLeft(at: Following): Promise<boolean> {
  const { deps, input, turn, reader } = at;
  const sent = await sendPending(deps, input.session);
  if (sent === undefined) return false;
  // One that the log shows already has begun its turn there, and may have ended it.
  if (sent.id === undefined || !deps.log.has(sent.id)) turn.begin();
  if (sent.id !== undefined) at.sent.push(sent.id);
  at.sentSince = deps.clock.monotonic();
  await reader.catchUp();
  return true;
}

/** Is what was sent not in the log yet, so that the log is of the time before? Bounded, and then it says so. */
function awaitsSent(at: Following): boolean {
  const { clock, timing, log, say } = at.deps;
  at.sent = at.sent.filter((id) => !log.has(id));
  if (at.sent.length === 0 || !at.reader.missing()) return false;
  if (clock.monotonic() - at.sentSince <= LAGS * timing.lagMs) return true;
  say(
    `The service took ${at.sent.join(', ')}, and has not shown it since. "steward agents managed wake" may show it later.`,
  );
  at.sent = [];
  return false;
}

async function watchCost(at: Following): Promise<void> {
  const { deps, input, turn } = at;
  if (input.maxCost === undefined || at.costStopped || turn.status() !== 'running') return;
  const { totalUsd } = costOf(turn.usage(), deps.prices);
  if (totalUsd < input.maxCost) return;
  at.costStopped = true;
  deps.say(`The cost has reached ${totalUsd.toFixed(2)} USD: interrupting the agent.`);
  await sendInterrupt(deps, input.session);
}

function isOver(turn: Turn): boolean {
  return turn.status() === 'terminated' || turn.status() === 'deleted';
}

function given(error: unknown, session: string): unknown {
  if (!(error instanceof StewardError)) return error;
  return new StewardError(error.kind, error.message, {
    hint: `${error.hint ?? ''} The session may go on by itself: steward agents managed wake ${session}`.trim(),
    cause: error.cause,
  });
}
