import { StewardError, toStewardError } from '../../errors';
import { wait } from '../../platform/time/wait';
import { costOf, type Cost, type Prices, openTurn, type Outcome, type ToolUse, type Turn } from './turn';
import type { SentEvent } from './event';
import { failureOf, isTransient, pauseMs } from './failure';
import { sendAnswers, sendInterrupt, sendPending, type SendDeps } from './outbox';
import { openReader, type Reader, readFrames } from './reader';
import type { SessionLog } from './session-log';

export interface FollowDeps extends SendDeps {
  log: SessionLog;
  prices: Prices;
  /** Answers to what the agent waits for; none for what nobody here can say. */
  answer: (pending: readonly ToolUse[]) => Promise<SentEvent[]>;
  say: (text: string) => void;
}

export interface FollowInput {
  session: string;
  /** `turn`: to the end of the turn. `session`: on and on, until the session is over. */
  until: 'turn' | 'session';
  /** USD; beyond it the agent is interrupted. */
  maxCost?: number;
  /** Ids of events that were sent just before: the end is not told before they are shown. */
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

/**
 * Follows a session, sends what is to be sent, and answers what can be answered. Every event of the session's log is
 * stored and shown once, in the order of the log, whatever the connection does:
 *
 * 1. The stream is opened. 2. All pages of the history are read. 3. The stream is drained; what it shows makes the
 * history be read on. Again after every drop, with a growing pause. The stream alone would do for neither: it has
 * no replay, and what it shows may come twice, in another order, or never; the history has it right, a little later.
 */
export async function follow(deps: FollowDeps, input: FollowInput): Promise<FollowEnd> {
  const { clock, timing, log } = deps;
  const turn = openTurn();
  log.replay((event) => turn.add(event));
  const reader = openReader({ ...deps, turn }, input.session);
  const state: State = { costStopped: false, sent: [...(input.sent ?? [])], sentSince: clock.monotonic() };
  let tried = 0;
  let reached = false;
  let failingSince = clock.monotonic();
  await log.show();
  for (;;) {
    try {
      const frames = await readFrames(await deps.client.stream(input.session));
      try {
        await reader.catchUp();
        reached = true;
        for (;;) {
          tried = 0;
          failingSince = clock.monotonic();
          const end = await settle(deps, input, turn, reader, state);
          if (end !== undefined) return end;
          if (!(await reader.drain(frames))) break;
        }
      } finally {
        frames.close();
      }
    } catch (error) {
      if (!isTransient(error)) throw error;
      const lost = reached ? clock.monotonic() - failingSince > timing.patienceMs : tried + 1 >= timing.tries;
      if (lost) throw given(error, input.session);
      // A short drop is nothing to talk of; who waits for longer wants to know for what.
      if (reached && tried === TALK_AFTER)
        deps.say(`${toStewardError(error).message} Trying again; the session goes on.`);
      await wait(pauseMs(timing, tried, error), deps.signal);
      tried += 1;
      continue;
    }
    // An end without the end of the session is a drop, not a success.
    await wait(pauseMs(timing, tried, undefined), deps.signal);
    tried += 1;
  }
}

/** Tries that failed one after the other. */
const TALK_AFTER = 2;

interface State {
  costStopped: boolean;
  /** What was sent and has to be seen, and since when. */
  sent: string[];
  sentSince: number;
}

/** Does what the state of the session asks for; the end, when there is one. */
async function settle(
  deps: FollowDeps,
  input: FollowInput,
  turn: Turn,
  reader: Reader,
  state: State,
): Promise<FollowEnd | undefined> {
  if (!isOver(turn) && awaitsSent(deps, reader, state)) return undefined;
  const waiting = turn.pending();
  if (waiting.length > 0) {
    const answers = await deps.answer(waiting);
    await sendAnswers(deps, input.session, answers).catch(async (error: unknown) => {
      if (failureOf(error)?.status !== 400) throw error;
      // While a person thought about it, the session may have gone on without the answer (it was interrupted).
      await reader.catchUp();
      const still = new Set(turn.pending().map(({ id }) => id));
      if (waiting.some(({ id }) => still.has(id))) throw error;
    });
    for (const id of answers.map(answeredId)) turn.answered(id);
    const left = turn.pending();
    if (left.length > 0 && answers.length === 0 && input.until === 'turn') {
      return ended(deps, input, turn, waits(left), left);
    }
  } else if (!isOver(turn)) {
    const sent = await sendPending(deps, input.session);
    if (sent !== undefined) {
      // One that the log shows already has begun its turn there, and may have ended it.
      if (sent.id === undefined || !deps.log.has(sent.id)) turn.begin();
      if (sent.id !== undefined) state.sent.push(sent.id);
      state.sentSince = deps.clock.monotonic();
      await reader.catchUp();
      return undefined;
    }
  }
  await watchCost(deps, input, turn, state);
  const outcome = turn.outcome();
  if (outcome !== undefined && (input.until === 'turn' || isOver(turn))) {
    return ended(deps, input, turn, state.costStopped ? stoppedForCost(outcome) : outcome, []);
  }
  if (input.isIdle === true && turn.status() === 'unknown' && input.until === 'turn') {
    return ended(deps, input, turn, { reason: 'idle', kind: undefined, message: 'idle' }, []);
  }
  return undefined;
}

/** A history may lag behind for longer than its usual time before it is not believed to show what was sent. */
const LAGS = 6;

/** What was sent is not in the log yet, so what the log says is of the time before. Bounded, and then it says so. */
function awaitsSent({ clock, timing, log, say }: FollowDeps, reader: Reader, state: State): boolean {
  state.sent = state.sent.filter((id) => !log.has(id));
  if (state.sent.length === 0 || !reader.missing()) return false;
  if (clock.monotonic() - state.sentSince <= LAGS * timing.lagMs) return true;
  say(
    `The service took ${state.sent.join(', ')}, and has not shown it since. "steward agents managed wake" may show it later.`,
  );
  state.sent = [];
  return false;
}

async function watchCost(deps: FollowDeps, input: FollowInput, turn: Turn, state: State): Promise<void> {
  if (input.maxCost === undefined || state.costStopped || turn.status() !== 'running') return;
  const { totalUsd } = costOf(turn.usage(), deps.prices);
  if (totalUsd < input.maxCost) return;
  state.costStopped = true;
  deps.say(`The cost has reached ${totalUsd.toFixed(2)} USD: interrupting the agent.`);
  await sendInterrupt(deps, input.session);
}

function isOver(turn: Turn): boolean {
  return turn.status() === 'terminated' || turn.status() === 'deleted';
}

function ended(
  deps: FollowDeps,
  { session }: FollowInput,
  turn: Turn,
  outcome: Outcome,
  pending: ToolUse[],
): FollowEnd {
  const cost = costOf(turn.usage(), deps.prices);
  return { session, outcome, pending, cost, events: deps.log.count() };
}

function waits(left: readonly ToolUse[]): Outcome {
  const count = left.length === 1 ? 'an answer' : `${left.length} answers`;
  return { reason: 'requires_action', kind: 'conflict', message: `The agent waits for ${count}` };
}

function stoppedForCost(outcome: Outcome): Outcome {
  return { ...outcome, kind: 'canceled', message: 'The agent was interrupted at the cost limit' };
}

function answeredId(event: SentEvent): string {
  if (event.type === 'user.tool_confirmation') return event.tool_use_id;
  return event.type === 'user.custom_tool_result' ? event.custom_tool_use_id : '';
}

function given(error: unknown, session: string): unknown {
  if (!(error instanceof StewardError)) return error;
  return new StewardError(error.kind, error.message, {
    hint: `${error.hint ?? ''} The session may go on by itself: steward agents managed wake ${session}`.trim(),
    cause: error.cause,
  });
}
