import type { Machine } from '../config/user-area';
import { StewardError } from '../errors';
import { cleanLine, cleanLines } from '../platform/terminal/terminal';
import { aborted, wait } from '../platform/time/wait';
import { answerTo, openAsk, renewAsk, type Ask } from './asks';

export interface AskMe {
  question?: string | undefined;
  options?: readonly string[] | undefined;
  urgent?: boolean | undefined;
  /** The id of an earlier call that returned without an answer. */
  id?: string | undefined;
}

/** How long a call waits for an answer, and what ends it before. */
export interface AskMeWait {
  signal: AbortSignal;
  waitMs?: number;
}

/** Shorter than the time that MCP clients wait for a tool. */
const WAIT_MS = 50_000;
const POLL_MS = 500;
/** A question whose agent has not asked again for this long is no longer listed. */
const PATIENCE_MS = 10 * 60_000;
const MAX_QUESTION = 300;

/** Puts a question into the inbox, calls `tell` if it is new, and waits for your answer. `signal` ends the wait. */
export async function askMe(
  machine: Machine,
  asked: AskMe,
  tell: (ask: Ask, text: string) => Promise<unknown>,
  { signal, waitMs = WAIT_MS }: AskMeWait,
): Promise<object> {
  const { clock } = machine;
  const { question, id } = asked;
  if ((id === undefined) === (question === undefined))
    throw new StewardError('usage', 'Pass a question, or the id of an earlier one.', {
      hint: 'Arguments: question, options and urgent; or id.',
    });
  const untilMs = clock.now() + waitMs + PATIENCE_MS;
  const text = cleanLines(question ?? '');
  const ask =
    question === undefined
      ? await renewAsk(machine, id ?? '', untilMs)
      : await openQuestion(machine, text, asked.options ?? [], untilMs);
  if (question !== undefined) await tell(ask, `An agent asks: ${cleanLine(text, MAX_QUESTION)}`);
  const endMs = clock.monotonic() + waitMs;
  const stopped = aborted(signal);
  for (;;) {
    const decision = answerTo(machine, ask);
    if (decision?.behavior === 'allow') return { answer: decision.texts[0] };
    if (decision !== undefined) return { declined: true, reason: decision.texts[0] ?? null };
    if (signal.aborted || clock.monotonic() >= endMs) break;
    await Promise.race([wait(POLL_MS), stopped]);
  }
  return { waiting: true, id: ask.id, next: `Still waiting. Call ask_me again with the id ${ask.id}.` };
}

function openQuestion(machine: Machine, text: string, options: readonly string[], untilMs: number) {
  return openAsk(machine, {
    kind: 'ask',
    tool: 'ask_me',
    input: text,
    questions: [{ text, options: options.map((option) => cleanLine(option, MAX_QUESTION)) }],
    canAllow: true,
    isHeld: false,
    untilMs,
  });
}
