import { answersBy, confirmation, type Policy } from '../agents/managed/send';
import type { SentEvent } from '../agents/managed/event';
import type { ToolUse } from '../agents/managed/turn';
import { askedText } from '../agents/managed/view';
import { StewardError } from '../errors';
import { canAsk, openQuestions } from '../platform/terminal/ask';

export interface Asking {
  policy: Policy;
  columns: number;
  /** Shows what a question is about, next to it. */
  show: (text: string) => void;
  /** Aborted by Ctrl-C: the question is withdrawn, and nothing is answered. */
  signal: AbortSignal;
}

/**
 * Answers what the agent waits for: what was said before, then what a person says on the terminal, where Enter denies.
 * Whoever ends the input (Ctrl-D) is asked no more in this run: what is left waits, as it does without a terminal.
 */
export function answerer(asking: Asking): (pending: readonly ToolUse[]) => Promise<SentEvent[]> {
  let isGone = !canAsk();
  return async (pending) => {
    const given = answersBy(asking.policy, pending);
    if (given.length > 0 || isGone) return given;
    const { answers, ended } = await asked(
      asking,
      pending.filter(({ kind }) => kind === 'tool'),
    );
    isGone = ended;
    return answers;
  };
}

async function asked(
  { columns, show, signal }: Asking,
  uses: readonly ToolUse[],
): Promise<{ answers: SentEvent[]; ended: boolean }> {
  const answers: SentEvent[] = [];
  if (uses.length === 0) return { answers, ended: false };
  const questions = openQuestions();
  const { withdrawn, release } = onceAborted(signal);
  try {
    for (const use of uses) {
      const { lines, question } = askedText(use, columns);
      if (lines !== '') show(`${lines}\n`);
      const allowed = await Promise.race([questions.yes(question, 'no'), withdrawn]);
      answers.push(confirmation(use.id, allowed ? 'allow' : 'deny'));
    }
    return { answers, ended: false };
  } catch (error) {
    if (!signal.aborted && error instanceof StewardError && error.kind === 'canceled')
      return { answers, ended: true };
    throw error;
  } finally {
    release();
    questions.close();
  }
}

/** One listener for all questions, however many tools the agent wants to use at once. */
function onceAborted(signal: AbortSignal): { withdrawn: Promise<never>; release: () => void } {
  let abort: () => void = () => undefined;
  const withdrawn = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason as Error);
  });
  signal.addEventListener('abort', abort, { once: true });
  return { withdrawn, release: () => signal.removeEventListener('abort', abort) };
}
