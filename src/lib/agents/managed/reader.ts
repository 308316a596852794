import { StewardError } from '../../errors';
import { parseObject } from '../../platform/files/json-object';
import { networkFailureOf } from '../../platform/net/network-failure';
import type { OriginStream } from '../../platform/net/origin-client';
import { cleanLine } from '../../platform/terminal/terminal';
import type { Clock } from '../../platform/time/clock';
import type { ManagedClient } from './client';
import { type ManagedEvent, asEvent, eventKey, hasId, textOf } from './event';
import { type Timing, failureOf } from './failure';
import type { SessionLog } from './session-log';
import type { Turn } from './turn';

export interface ReaderDeps {
  client: ManagedClient;
  clock: Clock;
  timing: Timing;
  log: SessionLog;
  turn: Turn;
}

/** Brings what happens in a session into its local log, on the screen and into its turn. */
export interface Reader {
  /** Reads the history to its end. */
  catchUp: () => Promise<void>;
  /** Something is missing: the next `drain` looks at the history soon. False: the service has none. */
  missing: () => boolean;
  /** Reads the stream for a while; false at its end. A stream that is silent for too long is `unavailable`. */
  drain: (frames: FrameReader) => Promise<boolean>;
}

/** So many events may be announced by the stream before the history is looked at, whatever its pace. */
const MOST_ANNOUNCED = 5000;
/** So many of them are kept whole, for a history that does not show them. */
const MOST_WHOLE = 500;
const QUIET_MS = 2000;

/**
 * The stream announces, the history tells: only its order is that of the log. What the stream announced and the history
 * does not show within `lagMs` is taken as the stream had it. A service without a history is read from
 * the stream alone.
 */
export function openReader(deps: ReaderDeps, session: string): Reader {
  const { client, clock, timing, log, turn } = deps;
  const history = openHistory(client, session);
  const announced = new Map<string, { event: ManagedEvent | undefined; since: number }>();
  let served = true;
  let lookedAt = 0;
  let heardAt = clock.monotonic();
  let pace = 0;
  /** A frame could not be read, or the connection is new: something may be missing. */
  let suspect = false;

  const accept = async (events: readonly Keyed[]): Promise<void> => {
    for (const event of log.append(events)) turn.add(event);
    for (const { key } of events) announced.delete(key);
    await log.show();
  };

  const look = async (): Promise<void> => {
    suspect = false;
    served = await history.read(accept);
    const now = clock.monotonic();
    // Events that come one after the other are looked for together: the service counts requests.
    const [shortest, longest] = timing.paceMs;
    pace = now - lookedAt > QUIET_MS ? shortest : Math.min(longest, Math.max(shortest, pace * 1.5));
    lookedAt = now;
    const late = [...announced].filter(([, { since }]) => now - since > timing.lagMs);
    for (const [key] of late) announced.delete(key);
    await accept(
      late.flatMap(([key, { event }]) => (event === undefined || log.has(key) ? [] : [{ key, event }])),
    );
  };

  const note = async (frames: readonly Frame[]): Promise<void> => {
    const now = clock.monotonic();
    for (const frame of frames) {
      if (frame.kind === 'broken' || (served && !hasId(frame.event))) {
        suspect = true;
        continue;
      }
      const { event } = frame;
      // Without ids and without a history, what says the same is the same.
      const key = hasId(event) ? event.id : JSON.stringify(event);
      if (served) {
        if (!log.has(key) && !announced.has(key)) {
          announced.set(key, { event: announced.size < MOST_WHOLE ? event : undefined, since: now });
        }
      } else if (!log.has(key)) {
        await accept([{ key, event }]);
      } else if (event.type.startsWith('session.status_')) {
        // Seen before, and shown: but where the session stands is what it says now.
        turn.add(event);
      }
    }
  };

  return {
    catchUp: async () => {
      heardAt = clock.monotonic();
      await look();
    },
    missing: () => {
      suspect = true;
      return served;
    },
    drain: async (frames) => {
      const now = clock.monotonic();
      const wanted = served && (suspect || announced.size > 0);
      const dueIn = wanted
        ? Math.max(0, lookedAt + pace - now)
        : Math.max(1, Math.min(lookedAt + timing.lookMs, heardAt + timing.silenceMs) - now + 1);
      const got = await frames.next(dueIn);
      if (got === undefined) return false;
      if (got.alive) heardAt = clock.monotonic();
      await note(got.frames);
      const later = clock.monotonic();
      if (later - heardAt > timing.silenceMs) {
        heardAt = later;
        throw silent(client.host);
      }
      const isDue = served && (suspect || announced.size > 0) && later - lookedAt >= pace;
      if (isDue || announced.size > MOST_ANNOUNCED || later - lookedAt >= timing.lookMs) await look();
      return true;
    },
  };
}

function silent(host: string): StewardError {
  return new StewardError('unavailable', `The stream of ${host} has been silent for too long.`, {
    hint: 'It is opened again.',
    cause: { code: 'SILENT', sent: true },
  });
}

export interface Keyed {
  key: string;
  event: ManagedEvent;
}

/**
 * Reads a session's log from the service, page by page in its order. The first `read` gives all of it, the
 * following ones what came behind the last page, beginning with a few events that were given already.
 */
export interface History {
  /** Calls `take` for each page; false where the service has no list of events. */
  read: (take: (events: Keyed[]) => Promise<void>) => Promise<boolean>;
}

const MOST = 1000;
/** So many events are read again rather than moving the cursor with a request of its own. */
const SHORT_TAIL = 100;

export function openHistory(client: Pick<ManagedClient, 'events'>, session: string): History {
  /** The cursor of the last page, the key of what stands before it, and how many events that page had. */
  let page: string | undefined;
  let before = '';
  let tail = 0;
  let most = MOST;
  let served: boolean | undefined;

  const restart = (): void => {
    page = undefined;
    before = '';
    tail = 0;
  };

  return {
    read: async (take) => {
      if (served === false) return false;
      for (;;) {
        // Exactly the tail moves the cursor behind it as soon as there is more.
        const limit = Math.min(most, tail > SHORT_TAIL ? tail : MOST);
        let found;
        try {
          found = await client.events(session, { page, limit });
        } catch (error) {
          if (served === undefined && NOT_SERVED.has(failureOf(error)?.status ?? 0)) {
            served = false;
            return false;
          }
          if (networkFailureOf(error)?.code === 'TOO_LARGE' && limit > 1) {
            most = Math.max(1, Math.floor(limit / 8));
            continue;
          }
          // A cursor may be given up by the service; what it stood for is read again.
          if (page === undefined || failureOf(error)?.status !== 400) throw error;
          restart();
          continue;
        }
        served = true;
        let last = before;
        const events = found.data.map((event) => {
          last = eventKey(event, last);
          return { key: last, event };
        });
        await take(events);
        if (found.next === undefined || found.next === page) {
          tail = events.length;
          return true;
        }
        page = found.next;
        before = last;
        tail = 0;
      }
    },
  };
}

const NOT_SERVED = new Set([404, 405, 501]);

/** A frame of the stream; `broken` is one that holds no event, so that the history has to be asked. */
export type Frame = { kind: 'event'; event: ManagedEvent } | { kind: 'broken' };

export interface FrameReader {
  /** The frames that came within `ms`; none when it was silent, undefined at its end. */
  next: (ms: number) => Promise<{ frames: Frame[]; alive: boolean } | undefined>;
  close: () => void;
}

/** Events may carry files; the service cuts none larger than this into one frame. */
const MAX_FRAME = 64 * 1024 * 1024;
/** Only of connections that ask for pieces of messages; and never in the history. */
const PIECES = new Set(['event_start', 'event_delta', 'ping']);

/** Decodes a session's stream of server-sent events. A frame that is cut off by the end is none. */
export async function readFrames(stream: OriginStream): Promise<FrameReader> {
  const { createParser } = await import('eventsource-parser');
  const decoder = new TextDecoder();
  let frames: Frame[] = [];
  let failed: StewardError | undefined;
  const parser = createParser({
    maxBufferSize: MAX_FRAME,
    onEvent: ({ event: name, data, id }) => {
      const value = parseObject(data);
      if (name === 'error') failed = streamError(value);
      const event = asEvent(value);
      if (event === undefined) frames.push({ kind: 'broken' });
      else if (!PIECES.has(event.type)) {
        const named = hasId(event) || id === undefined || id === '' ? event : { ...event, id };
        frames.push({ kind: 'event', event: named });
      }
    },
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') failed = streamError(undefined);
    },
  });
  let reading: ReturnType<OriginStream['chunks']['next']> | undefined;
  return {
    next: async (ms) => {
      reading ??= stream.chunks.next();
      // An error of a read that nobody waits for any more is told by the next one.
      reading.catch(() => undefined);
      const got = await within(reading, ms);
      if (got === undefined) return { frames: [], alive: false };
      reading = undefined;
      if (got.done === true) return undefined;
      parser.feed(decoder.decode(got.value, { stream: true }));
      if (failed !== undefined) throw failed;
      const ready = frames;
      frames = [];
      return { frames: ready, alive: true };
    },
    close: () => stream.close(),
  };
}

async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

function streamError(value: Record<string, unknown> | undefined): StewardError {
  const told = textOf(value?.['error'], 'message');
  const why = told === undefined ? '' : `: ${cleanLine(told, 200)}`;
  return new StewardError('unavailable', `The stream was broken off by the service${why}.`, {
    hint: 'Wake the session to go on.',
    cause: { code: 'STREAM_ERROR', sent: true },
  });
}
