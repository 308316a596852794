import type { Machine } from '../config/user-area';
import { wait } from '../platform/time/wait';
import { type Ask, type AskDecision, answerTo, openAsk, takeAnswer } from './asks';

interface Hold {
  /** Whether you are measured to be away. If not, the assistant asks as always. */
  isAway: () => Promise<boolean>;
  holdMs: number;
  pollMs: number;
}

/**
 * Waits up to `holdMs` for an answer, or until you are back. Returns undefined if there is no answer; the
 * assistant must then ask.
 */
export async function holdAsk(
  machine: Machine,
  about: Omit<Ask, 'id' | 'at' | 'until'>,
  { isAway, holdMs, pollMs }: Hold,
): Promise<AskDecision | undefined> {
  const { clock } = machine;
  const endMs = clock.monotonic() + holdMs;
  if (!(await isAway())) return undefined;
  const ask = await openAsk(machine, { ...about, isHeld: true, untilMs: clock.now() + holdMs });
  let decision: AskDecision | undefined;
  try {
    while (answerTo(machine, ask) === undefined) {
      const leftMs = endMs - clock.monotonic();
      if (leftMs <= 0 || !(await isAway())) break;
      await wait(Math.min(leftMs, pollMs));
    }
  } finally {
    decision = await takeAnswer(machine, ask);
  }
  return decision;
}
