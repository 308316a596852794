import { StewardError } from '../../errors';
import type { Clock } from '../../platform/time/clock';
import { SoundError, type SpeechEngine, type SpeechMachine } from './engines/engine';

/** What became of a text that was to be spoken. */
export interface Spoken {
  /** It was heard to its end. */
  spoken: boolean;
  /** The engine that spoke it. */
  engine?: string;
  /** Why it was not spoken, in words for a person. */
  reason?: string;
}

/** A text for the voice, as it was sent: the transforms of pronunciation are the voice's own. */
export interface Utterance {
  text: string;
  /** The provider's voice id; the DA's voice when left out. */
  voiceId?: string;
}

/** The voice: one text at a time, in order, each bounded; what waited longer than a minute is not spoken any more. */
export interface Speech {
  /** Never throws: what could not be spoken is said in the answer. */
  say(utterance: Utterance): Promise<Spoken>;
  /** Takes no more, lets the text that is being spoken end for `graceMs`, and stops. */
  close(graceMs: number): Promise<void>;
}

/** What the voice is made of. */
export interface QueueDeps {
  clock: Clock;
  machine: SpeechMachine;
  /** Those that may be tried now, in order. Asked before each text: one may have been installed since. */
  engines: () => readonly SpeechEngine[];
  /** Reads changed settings: before a text waits for its turn, and again when it is spoken. */
  refresh?: (() => Promise<void> | undefined) | undefined;
  /** The text as it is to be said. */
  spokenOf: (text: string) => string;
  /** Why there is no voice, for a person: asked where `engines` has none. */
  noVoice: () => string;
}

export interface QueueLimits {
  /** Texts that wait; one more is refused. */
  waiting: number;
  /** What waited longer is not spoken any more, ms. */
  staleMs: number;
  /** What one text may take, engines that failed before included, ms. */
  textMs: number;
  /** So long an engine that failed is asked last, ms. */
  restMs: number;
  /** One that took longer than this to fail is not asked at all for `slowRestMs`: each text would wait for it. */
  slowMs: number;
  slowRestMs: number;
}

export const LIMITS: QueueLimits = {
  waiting: 50,
  staleMs: 60_000,
  textMs: 30_000,
  restMs: 60_000,
  slowMs: 3_000,
  slowRestMs: 300_000,
};

/** An engine that does not even stop when it is told is left alone after so long. */
const STOP_MS = 2000;

interface Waiting {
  utterance: Utterance;
  /** When it came, by the wall clock and by the monotonic one. */
  nowMs: number;
  monotonicMs: number;
  answer: (spoken: Spoken) => void;
}

/** An engine that failed lately. */
interface Rest {
  /** On the monotonic clock, ms. */
  untilMs: number;
  /** How it failed, where that took so long that it is left out meanwhile. */
  slowFailure: string | undefined;
}

interface Queue extends QueueDeps {
  limits: QueueLimits;
  waiting: Waiting[];
  /** By engine and not by id: changed settings make new engines, which get a new chance. */
  resting: WeakMap<SpeechEngine, Rest>;
  current: { ends: Promise<void>; stop: AbortController } | undefined;
  isClosed: boolean;
}

/** Speaks one text at a time, in order of arrival, and never while another process of the machine speaks. */
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
      if (queue.isClosed) return Promise.resolve(unspoken('The voice is closing.'));
      if (queue.waiting.length >= limits.waiting) {
        return Promise.resolve(unspoken(`${limits.waiting} messages are waiting to be spoken already.`));
      }
      return new Promise((answer) => {
        queue.waiting.push({ utterance, answer, nowMs: clock.now(), monotonicMs: clock.monotonic() });
        if (queue.current === undefined) next(queue);
      });
    },
    async close(graceMs) {
      queue.isClosed = true;
      for (const { answer } of queue.waiting.splice(0)) answer(unspoken('The voice is closing.'));
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
  const ends = spoken(queue, first, stop)
    .catch((error: unknown) => unspoken(wordsOf(error)))
    .then((answer) => {
      first.answer(answer);
      next(queue);
    });
  queue.current = { ends, stop };
}

async function spoken(queue: Queue, waiting: Waiting, stop: AbortController): Promise<Spoken> {
  const { limits, machine, refresh } = queue;
  const waited = waitedMs(queue, waiting);
  if (waited > limits.staleMs) return stale(waited);
  const text = queue.spokenOf(waiting.utterance.text);
  if (text === '') return unspoken('There is nothing in it to say.');
  await refresh?.();
  if (queue.engines().length === 0) return unspoken(queue.noVoice());
  const waiter = { sinceMs: waiting.nowMs, waitMs: limits.staleMs - waited, signal: stop.signal };
  const answer = await machine.takeTurn(waiter, async () => {
    const inAll = waitedMs(queue, waiting);
    if (inAll > limits.staleMs) return stale(inAll);
    await refresh?.();
    return speakWith(queue, { ...waiting.utterance, text }, stop);
  });
  return answer ?? (stop.signal.aborted ? unspoken(STOPPED) : stale(waitedMs(queue, waiting)));
}

/** A machine that slept has a monotonic clock that stood still. */
function waitedMs({ clock }: Queue, { nowMs, monotonicMs }: Waiting): number {
  return Math.max(clock.monotonic() - monotonicMs, clock.now() - nowMs);
}

async function speakWith(queue: Queue, utterance: Utterance, stop: AbortController): Promise<Spoken> {
  const { clock, limits, resting } = queue;
  const end = clock.monotonic() + limits.textMs;
  const order = { ...utterance, remainingMs: () => end - clock.monotonic(), signal: stop.signal };
  const restOf = (engine: SpeechEngine): Rest | undefined => {
    const rest = resting.get(engine);
    return rest !== undefined && rest.untilMs > clock.monotonic() ? rest : undefined;
  };
  const engines = queue.engines();
  if (engines.length === 0) return unspoken(queue.noVoice());
  // Those that failed lately come last: one that hangs delays a single text, not each.
  const rests = engines.filter((engine) => restOf(engine) !== undefined);
  const failures = new Map<string, string[]>();
  for (const engine of [...engines.filter((one) => !rests.includes(one)), ...rests]) {
    const { slowFailure, untilMs = 0 } = restOf(engine) ?? {};
    if (slowFailure !== undefined) {
      const inMin = Math.ceil((untilMs - clock.monotonic()) / 60_000);
      failures.set(`${slowFailure} It is asked again in ${inMin} min.`, [engine.id]);
      continue;
    }
    if (order.remainingMs() <= 0 || stop.signal.aborted) break;
    const beganMs = clock.monotonic();
    const failure = await attempt(queue, engine, order, stop);
    if (failure === undefined) {
      resting.delete(engine);
      return { spoken: true, engine: engine.id };
    }
    // The sound is no engine's own: none is left out for it.
    const isSound = failure instanceof SoundError;
    const words = wordsOf(failure);
    failures.set(words, [...(failures.get(words) ?? []), ...(isSound ? [] : [engine.id])]);
    if (!stop.signal.aborted && !isSound) resting.set(engine, restAfter(queue, words, beganMs));
  }
  const reasons = [...failures].map(([words, ids]) =>
    ids.length === 0 ? words : `${ids.join(', ')}: ${words}`,
  );
  return unspoken(reasons.join(' '));
}

function restAfter({ clock, limits }: Queue, failure: string, beganMs: number): Rest {
  const nowMs = clock.monotonic();
  const isSlow = nowMs - beganMs > limits.slowMs;
  return {
    untilMs: nowMs + (isSlow ? limits.slowRestMs : limits.restMs),
    slowFailure: isSlow ? failure : undefined,
  };
}

/** Undefined when it was heard, else why not. Ends in time whatever the engine does. */
async function attempt(
  { machine, limits }: Queue,
  engine: SpeechEngine,
  order: Parameters<SpeechEngine['speak']>[1],
  stop: AbortController,
): Promise<unknown> {
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    stop.abort();
  }, order.remainingMs());
  let giveUp: NodeJS.Timeout | undefined;
  let soon = (): void => undefined;
  const stopped = new Promise<string>((resolve) => {
    soon = () => void (giveUp = setTimeout(() => resolve(STOPPED), STOP_MS));
  });
  stop.signal.addEventListener('abort', soon, { once: true });
  try {
    const speaks = engine.speak(machine, order).then(
      () => undefined,
      (error: unknown) => error ?? STOPPED,
    );
    const failure = await Promise.race([speaks, stopped]);
    return failure === undefined || !isLate ? failure : `It took longer than ${limits.textMs / 1000} s.`;
  } finally {
    clearTimeout(late);
    clearTimeout(giveUp);
    stop.signal.removeEventListener('abort', soon);
  }
}

const STOPPED = 'It was stopped.';

function stale(waitedMs: number): Spoken {
  return unspoken(`It waited for ${Math.round(waitedMs / 1000)} s and is not news any more.`);
}

function unspoken(reason: string): Spoken {
  return { spoken: false, reason };
}

function wordsOf(error: unknown): string {
  if (error instanceof StewardError && error.hint !== undefined) return `${error.message} ${error.hint}`;
  return error instanceof Error ? error.message : String(error);
}
