import type { Machine } from '../config/user-area';
import { wait } from '../platform/time/wait';
import { type Ask, type AskDecision, logLine, openAsk, takeAnswer, waitingAsks } from './asks';

interface Hold {
  /** Whether you are measured to be away. If not, the assistant asks as always. */
  isAway: () => Promise<boolean>;
  /** Whether your settings still offer the request, and allow the decision that you made meanwhile. */
  isOffered: (decision?: AskDecision) => Promise<boolean>;
  holdMs: number;
  pollMs: number;
}

/**
 * Waits up to `holdMs` for an answer, or until you are back. Returns undefined if there is no answer that counts; the
 * assistant must then ask.
 */
export async function holdAsk(
  machine: Machine,
  about: Omit<Ask, 'id' | 'at' | 'until'>,
  { isAway, isOffered, holdMs, pollMs }: Hold,
): Promise<AskDecision | undefined> {
  const { clock } = machine;
  const endMs = clock.monotonic() + holdMs;
  if (!(await isAway())) return undefined;
  const ask = await openAsk(machine, { ...about, isHeld: true, untilMs: clock.now() + holdMs });
  let decision: AskDecision | undefined;
  let why = 'no answer';
  try {
    // An ask that was changed or removed no longer waits either, and nobody could answer it.
    while (clock.monotonic() < endMs && waitingAsks(machine).some(({ id }) => id === ask.id)) {
      if (!(await isOffered())) why = 'settings';
      else if (!(await isAway())) why = 'you are back';
      if (why !== 'no answer') break;
      await wait(Math.max(0, Math.min(endMs - clock.monotonic(), pollMs)));
    }
  } finally {
    decision = await takeAnswer(machine, ask);
  }
  if (decision !== undefined && (await isOffered(decision))) return decision;
  logLine(machine, ask, 'abstain', decision === undefined ? why : 'settings');
  return undefined;
}
