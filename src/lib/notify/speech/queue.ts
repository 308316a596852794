import { StewardError } from '../../errors';
import type { Clock } from '../../platform/time/clock';
import { SoundError, type SpeechEngine, type SpeechMachine, type SpeechOrder } from './engines/engine';

/** What the voice is made of. */
export interface QueueDeps {
  clock: Clock;
  machine: SpeechMachine;
  /** Those that may be tried now, in order. Asked before each text: one may have been installed since. */
  engines: () => readonly SpeechEngine[];
  /** Reads changed settings: before a text waits for its turn, and again when it is spoken. */
  refresh?: () => Promise<void> | undefined;
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
  since: Moment;
  answer: (spoken: Spoken) => void;
}

/** An engine that failed lately. */
interface Rest {
  /** On the monotonic clock, ms. */
  untilMs: number;
  /** How it failed, where that took so long that it is left out meanwhile. */
  slowFailure?: string;
}

interface Failure {
  words: string;
  /** Not the engine's own: it is not left out for it. */
  isSound: boolean;
}

interface Moment {
  now: number;
  monotonic: number;
}

/** Speaks one text at a time, in order of arrival, and never while another process of the machine speaks. */
export function speechQueue(deps: QueueDeps, limits: QueueLimits = LIMITS): Speech {
  const { clock } = deps;
  const waiting: Waiting[] = [];
  /** By engine and not by id: changed settings make new engines, which get a new chance. */
  const resting = new WeakMap<SpeechEngine, Rest>();
  let current: { ends: Promise<void>; stop: AbortController } | undefined;
  let closed = false;

  const next = (): void => {
    const first = waiting.shift();
    if (first === undefined) {
      current = undefined;
      return;
    }
    const stop = new AbortController();
    const ends = spoken(first, stop).then((answer) => {
      first.answer(answer);
      next();
    });
    current = { ends, stop };
  };

  const spoken = async ({ utterance, since }: Waiting, stop: AbortController): Promise<Spoken> => {
    const waited = waitedMs(since);
    if (waited > limits.staleMs) return stale(waited);
    try {
      const text = deps.spokenOf(utterance.text);
      if (text === '') return unspoken('There is nothing in it to say.');
      await deps.refresh?.();
      if (deps.engines().length === 0) return unspoken(deps.noVoice());
      const waiter = { sinceMs: since.now, waitMs: limits.staleMs - waited, signal: stop.signal };
      const answer = await deps.machine.takeTurn(waiter, async () => {
        const inAll = waitedMs(since);
        if (inAll > limits.staleMs) return stale(inAll);
        await deps.refresh?.();
        const engines = deps.engines();
        if (engines.length === 0) return unspoken(deps.noVoice());
        return speakWith(inOrder(engines), { ...utterance, text }, stop);
      });
      return answer ?? (stop.signal.aborted ? unspoken('It was stopped.') : stale(waitedMs(since)));
    } catch (error) {
      return unspoken(wordsOf(error));
    }
  };

  /** A machine that slept has a monotonic clock that stood still. */
  const waitedMs = (since: Moment): number =>
    Math.max(clock.monotonic() - since.monotonic, clock.now() - since.now);

  /** Those that failed lately come last: one that hangs delays a single text, not each. */
  const inOrder = (engines: readonly SpeechEngine[]): SpeechEngine[] => {
    const rests = (engine: SpeechEngine): boolean => restOf(engine) !== undefined;
    return [...engines.filter((engine) => !rests(engine)), ...engines.filter(rests)];
  };

  const restOf = (engine: SpeechEngine): Rest | undefined => {
    const rest = resting.get(engine);
    return rest !== undefined && rest.untilMs > clock.monotonic() ? rest : undefined;
  };

  const speakWith = async (
    engines: readonly SpeechEngine[],
    utterance: Utterance,
    stop: AbortController,
  ): Promise<Spoken> => {
    const end = clock.monotonic() + limits.textMs;
    const remainingMs = (): number => end - clock.monotonic();
    const failures = new Map<string, string[]>();
    for (const engine of engines) {
      const rest = restOf(engine);
      if (rest?.slowFailure !== undefined) {
        const inMin = Math.ceil((rest.untilMs - clock.monotonic()) / 60_000);
        failures.set(`${rest.slowFailure} It is asked again in ${inMin} min.`, [engine.id]);
        continue;
      }
      if (remainingMs() <= 0 || stop.signal.aborted) break;
      const order: SpeechOrder = { ...utterance, remainingMs, signal: stop.signal };
      const beganMs = clock.monotonic();
      const failure = await attempt(engine, order, stop);
      if (failure === undefined) {
        resting.delete(engine);
        return { spoken: true, engine: engine.id };
      }
      const { words, isSound } = failure;
      failures.set(words, [...(failures.get(words) ?? []), ...(isSound ? [] : [engine.id])]);
      if (!stop.signal.aborted && !isSound) resting.set(engine, restAfter(words, beganMs));
    }
    const reasons = [...failures].map(([words, ids]) =>
      ids.length === 0 ? words : `${ids.join(', ')}: ${words}`,
    );
    return unspoken(reasons.join(' '));
  };

  const restAfter = (failure: string, beganMs: number): Rest => {
    const nowMs = clock.monotonic();
    return nowMs - beganMs > limits.slowMs
      ? { untilMs: nowMs + limits.slowRestMs, slowFailure: failure }
      : { untilMs: nowMs + limits.restMs };
  };

  /** Undefined when it was heard, else why not. Ends in time whatever the engine does. */
  const attempt = async (
    engine: SpeechEngine,
    order: SpeechOrder,
    stop: AbortController,
  ): Promise<Failure | undefined> => {
    let isLate = false;
    const late = setTimeout(() => {
      isLate = true;
      stop.abort();
    }, order.remainingMs());
    let giveUp: NodeJS.Timeout | undefined;
    let soon: () => void = () => undefined;
    const givenUp = new Promise<Failure>((resolve) => {
      soon = () => void (giveUp = setTimeout(() => resolve(STOPPED), STOP_MS));
    });
    stop.signal.addEventListener('abort', soon, { once: true });
    try {
      const speaks = engine.speak(deps.machine, order).then(() => undefined, failureOf);
      const failure = await Promise.race([speaks, givenUp]);
      if (failure === undefined || !isLate) return failure;
      return { words: `It took longer than ${limits.textMs / 1000} s.`, isSound: false };
    } finally {
      clearTimeout(late);
      clearTimeout(giveUp);
      stop.signal.removeEventListener('abort', soon);
    }
  };

  return {
    say(utterance) {
      if (closed) return Promise.resolve(unspoken('The voice is closing.'));
      if (waiting.length >= limits.waiting) {
        return Promise.resolve(unspoken(`${limits.waiting} messages are waiting to be spoken already.`));
      }
      return new Promise((answer) => {
        waiting.push({ utterance, answer, since: { now: clock.now(), monotonic: clock.monotonic() } });
        if (current === undefined) next();
      });
    },
    async close(graceMs) {
      closed = true;
      for (const { answer } of waiting.splice(0)) answer(unspoken('The voice is closing.'));
      if (current === undefined) return;
      const { ends, stop } = current;
      const grace = setTimeout(() => stop.abort(), graceMs);
      await ends;
      clearTimeout(grace);
    },
  };
}

function stale(waitedMs: number): Spoken {
  return unspoken(`It waited for ${Math.round(waitedMs / 1000)} s and is not news any more.`);
}

function unspoken(reason: string): Spoken {
  return { spoken: false, reason };
}

const STOPPED: Failure = { words: 'It was stopped.', isSound: false };

function failureOf(error: unknown): Failure {
  return { words: wordsOf(error), isSound: error instanceof SoundError };
}

function wordsOf(error: unknown): string {
  if (error instanceof StewardError)
    return error.hint === undefined ? error.message : `${error.message} ${error.hint}`;
  return error instanceof Error ? error.message : String(error);
}

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

/**
 * The voice (service.md: Voice; decisions.md 5): one text at a time, in order, each bounded; what waited
 * longer than a minute is not spoken any more.
 */
export interface Speech {
  /** Never throws: what could not be spoken is said in the answer. */
  say(utterance: Utterance): Promise<Spoken>;
  /** Takes no more, lets the text that is being spoken end for `graceMs`, and stops. */
  close(graceMs: number): Promise<void>;
}
