import { StewardError } from '../../errors';
import type { Clock } from '../../platform/time/clock';
import { SoundError, type SpeechEngine, type SpeechMachine, type SpeechOrder } from './engines/engine';

export interface Spoken {
  /** Whether the entire text was played. */
  spoken: boolean;
  engine?: string;
  reason?: string;
  /** Whether the process ends, so that the text can be spoken later. */
  isStopped?: true;
}

export interface Utterance {
  /** The original text, before any transformation. */
  text: string;
  /** The provider's voice id. Default: the assistant's voice. */
  voiceId?: string;
}

/** Speaks one utterance at a time, in order, with a timeout for each. */
export interface Speech {
  /** Speaks an utterance. If that fails, returns the reason; never throws. */
  say(utterance: Utterance): Promise<Spoken>;
  /** Stops accepting utterances, and stops speaking after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

interface QueueDeps {
  clock: Clock;
  machine: SpeechMachine;
  /**
   * Returns the engines to try, in order. Called for each utterance, because engines may be installed at any
   * time.
   */
  engines: () => readonly SpeechEngine[];
  /** Reloads the settings. Called before an utterance waits for its turn, and again before it is spoken. */
  refresh?: (() => Promise<void> | undefined) | undefined;
  spokenOf: (text: string) => string;
  /** Returns the reason why no engine is available. */
  noVoice: () => string;
}

export const LIMITS = {
  waiting: 50,
  /** How long an utterance may wait before it is discarded, in ms. */
  staleMs: 60_000,
  /** Timeout for speaking an utterance, across all engines, in ms. */
  textMs: 30_000,
  /** How long a failed engine stays last in the order, in ms. */
  restMs: 60_000,
  /** If an engine takes longer than this to fail, the queue skips the engine for `slowRestMs`. */
  slowMs: 3_000,
  slowRestMs: 300_000,
};

export type QueueLimits = Readonly<typeof LIMITS>;

const STOP_MS = 2000;
const STOPPED = 'Stopped.';

interface Waiting {
  utterance: Utterance;
  /** The time at which the utterance arrived, on both the wall clock and the monotonic clock. */
  nowMs: number;
  monotonicMs: number;
  answer: (spoken: Spoken) => void;
}

interface Rest {
  /** The time at which the engine is no longer treated as failed, on the monotonic clock. */
  untilMs: number;
  slowFailure: string | undefined;
}

interface Queue extends QueueDeps {
  limits: QueueLimits;
  waiting: Waiting[];
  resting: WeakMap<SpeechEngine, Rest>;
  current: { ends: Promise<void>; stop: AbortController } | undefined;
  isClosed: boolean;
}

/** Returns a queue that speaks utterances in order. Only one process on the machine speaks at a time. */
export function speechQueue(deps: QueueDeps, limits: QueueLimits = LIMITS): Speech {
  const { clock } = deps;
  const queue: Queue = {
    ...deps,
    limits,
    waiting: [],
    resting: new WeakMap(),
    current: undefined,
    isClosed: false,
  };
  return {
    say(utterance) {
      if (queue.isClosed) return Promise.resolve(closing());
      if (queue.waiting.length >= limits.waiting) {
        return Promise.resolve(unspoken(`The speech queue is full (${limits.waiting}).`));
      }
      return new Promise((answer) => {
        queue.waiting.push({ utterance, answer, nowMs: clock.now(), monotonicMs: clock.monotonic() });
        if (queue.current === undefined) next(queue);
      });
    },
    async close(graceMs) {
      queue.isClosed = true;
      for (const { answer } of queue.waiting.splice(0)) answer(closing());
      if (queue.current === undefined) return;
      const { ends, stop } = queue.current;
      const grace = setTimeout(() => stop.abort(), graceMs);
      await ends;
      clearTimeout(grace);
    },
  };
}

function next(queue: Queue): void {
  const first = queue.waiting.shift();
  queue.current = undefined;
  if (first === undefined) return;
  const stop = new AbortController();
  const ends = speak(queue, first, stop)
    .catch((error: unknown) => unspoken(wordsOf(error)))
    .then((answer) => {
      first.answer(queue.isClosed && !answer.spoken ? { ...answer, isStopped: true } : answer);
      next(queue);
    });
  queue.current = { ends, stop };
}

async function speak(queue: Queue, waiting: Waiting, stop: AbortController): Promise<Spoken> {
  const { limits, machine, refresh } = queue;
  const waitedBefore = waitedMs(queue, waiting);
  if (waitedBefore > limits.staleMs) return stale(waitedBefore);
  const text = queue.spokenOf(waiting.utterance.text);
  if (text === '') return unspoken('Nothing to say.');
  await refresh?.();
  if (queue.engines().length === 0) return unspoken(queue.noVoice());
  const waiter = { sinceMs: waiting.nowMs, waitMs: limits.staleMs - waitedBefore, signal: stop.signal };
  const answer = await machine.takeTurn(waiter, async () => {
    const waited = waitedMs(queue, waiting);
    if (waited > limits.staleMs) return stale(waited);
    await refresh?.();
    return speakWithAny(queue, { ...waiting.utterance, text }, stop);
  });
  return answer ?? (stop.signal.aborted ? unspoken(STOPPED) : stale(waitedMs(queue, waiting)));
}

/** Uses both clocks, because the monotonic clock stops while the machine is asleep. */
function waitedMs({ clock }: Queue, { nowMs, monotonicMs }: Waiting): number {
  return Math.max(clock.monotonic() - monotonicMs, clock.now() - nowMs);
}

/**
 * Tries the engines in order. Engines that failed recently come last, so that a hanging engine delays only
 * one utterance.
 */
async function speakWithAny(queue: Queue, utterance: Utterance, stop: AbortController): Promise<Spoken> {
  const { clock, limits, resting } = queue;
  const endMs = clock.monotonic() + limits.textMs;
  const order = { ...utterance, remainingMs: () => endMs - clock.monotonic(), signal: stop.signal };
  const restOf = (engine: SpeechEngine): Rest | undefined => {
    const rest = resting.get(engine);
    return rest !== undefined && rest.untilMs > clock.monotonic() ? rest : undefined;
  };
  const engines = queue.engines();
  if (engines.length === 0) return unspoken(queue.noVoice());
  const rested = (engine: SpeechEngine): number => (restOf(engine) === undefined ? 0 : 1);
  /** Maps a failure message to the ids of the engines that failed with it. */
  const failures = new Map<string, string[]>();
  for (const engine of [...engines].sort((a, b) => rested(a) - rested(b))) {
    const { slowFailure, untilMs = 0 } = restOf(engine) ?? {};
    if (slowFailure !== undefined) {
      const inMin = Math.ceil((untilMs - clock.monotonic()) / 60_000);
      failures.set(`${slowFailure} Retrying in ${inMin} min.`, [engine.id]);
      continue;
    }
    if (order.remainingMs() <= 0 || stop.signal.aborted) break;
    const startMs = clock.monotonic();
    const failure = await attempt(queue, engine, order, stop);
    if (failure === undefined) {
      resting.delete(engine);
      return { spoken: true, engine: engine.id };
    }
    // A failure to play the audio doesn't count against the engine.
    const isSound = failure instanceof SoundError;
    const words = wordsOf(failure);
    failures.set(words, [...(failures.get(words) ?? []), ...(isSound ? [] : [engine.id])]);
    if (!stop.signal.aborted && !isSound) resting.set(engine, restAfter(queue, words, startMs));
  }
  // Without sound every engine fails, so the sound is the only reason.
  const sound = [...failures].filter(([, ids]) => ids.length === 0);
  const reasons = (sound.length > 0 ? sound : [...failures]).map(([words, ids]) =>
    ids.length === 0 ? words : `${ids.join(', ')}: ${words}`,
  );
  return unspoken(reasons.join(' '));
}

function restAfter({ clock, limits }: Queue, failure: string, startMs: number): Rest {
  const nowMs = clock.monotonic();
  const isSlow = nowMs - startMs > limits.slowMs;
  return {
    untilMs: nowMs + (isSlow ? limits.slowRestMs : limits.restMs),
    slowFailure: isSlow ? failure : undefined,
  };
}

/**
 * Returns the reason why the text wasn't played, or undefined if it was. Enforces the timeout even if the
 * engine hangs.
 */
async function attempt(
  { machine, limits }: Queue,
  engine: SpeechEngine,
  order: SpeechOrder,
  stop: AbortController,
): Promise<unknown> {
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    stop.abort();
  }, order.remainingMs());
  let timer: NodeJS.Timeout | undefined;
  let giveUp = (): void => undefined;
  const stopped = new Promise<string>((resolve) => {
    giveUp = () => void (timer = setTimeout(() => resolve(STOPPED), STOP_MS));
  });
  stop.signal.addEventListener('abort', giveUp, { once: true });
  try {
    const failed = engine.speak(machine, order).then(
      () => undefined,
      (error: unknown) => error ?? STOPPED,
    );
    const failure = await Promise.race([failed, stopped]);
    return failure === undefined || !isLate ? failure : `Timed out after ${limits.textMs / 1000} s.`;
  } finally {
    clearTimeout(late);
    clearTimeout(timer);
    stop.signal.removeEventListener('abort', giveUp);
  }
}

function stale(ms: number): Spoken {
  return unspoken(`Discarded after waiting ${Math.round(ms / 1000)} s for the voice.`);
}

function closing(): Spoken {
  return { ...unspoken('The voice is shutting down.'), isStopped: true };
}

function unspoken(reason: string): Spoken {
  return { spoken: false, reason };
}

function wordsOf(error: unknown): string {
  if (error instanceof StewardError && error.hint !== undefined) return `${error.message} ${error.hint}`;
  return error instanceof Error ? error.message : String(error);
}
