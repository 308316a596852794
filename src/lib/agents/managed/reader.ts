import { StewardError } from '../../errors';
import { parseObject } from '../../platform/files/json-object';
import { networkFailureOf } from '../../platform/net/network-failure';
import type { OriginStream } from '../../platform/net/origin-client';
import { cleanLine } from '../../platform/terminal/terminal';
import type { Clock } from '../../platform/time/clock';
import type { ManagedClient, Page } from './client';
import { asEvent, eventKey, hasId, textOf, type ManagedEvent } from './event';
import { failureOf, isNotServed, type Timing } from './failure';
import type { SessionLog } from './session-log';
import type { Turn } from './turn';

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
  const start = { page: undefined as string | undefined, before: '', tail: 0 };
  let at = { ...start };
  let most = MOST;
  let served: boolean | undefined;

  /** One page; undefined when it has to be asked for again in another way. */
  const onePage = async (): Promise<Page<ManagedEvent> | undefined> => {
    // Exactly the tail moves the cursor behind it as soon as there is more.
    const limit = Math.min(most, at.tail > SHORT_TAIL ? at.tail : MOST);
    try {
      return await client.events(session, { page: at.page, limit });
    } catch (error) {
      if (networkFailureOf(error)?.code === 'TOO_LARGE' && limit > 1) {
        most = Math.max(1, Math.floor(limit / 8));
        return undefined;
      }
      // The service may have dropped a cursor; then all is read again.
      if (at.page === undefined || failureOf(error)?.status !== 400) throw error;
      at = { ...start };
      return undefined;
    }
  };

  return {
    read: async (take) => {
      while (served !== false) {
        const found = await onePage().catch((error: unknown) => {
          if (served !== undefined || !isNotServed(error)) throw error;
          served = false;
          return undefined;
        });
        if (found === undefined) continue;
        served = true;
        let last = at.before;
        const events = found.data.map((event) => {
          last = eventKey(event, last);
          return { key: last, event };
        });
        await take(events);
        if (found.next === undefined || found.next === at.page) {
          at.tail = events.length;
          return true;
        }
        at = { page: found.next, before: last, tail: 0 };
      }
      return false;
    },
  };
}

/** A frame of the stream: its event; undefined where it holds none, so that the history has to be asked. */
type Frame = ManagedEvent | undefined;

export interface FrameReader {
  /** The frames that came within `ms`; none when it was silent, undefined at its end. */
  next: (ms: number) => Promise<{ frames: Frame[]; alive: boolean } | undefined>;
  close: () => void;
}

/** Events may carry files; the service puts none larger than this into one frame. */
const MAX_FRAME = 64 * 1024 * 1024;
/** Only for connections that ask for pieces of messages; never in the history. */
const PIECES = new Set(['event_start', 'event_delta', 'ping']);

/** Decodes a session's stream of server-sent events. A frame that is cut off by the end is dropped. */
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
      if (event !== undefined && PIECES.has(event.type)) return;
      const isNamed = event === undefined || hasId(event) || id === undefined || id === '';
      frames.push(isNamed ? event : { ...event, id });
    },
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') failed = streamError(undefined);
    },
  });
  let reading: ReturnType<OriginStream['chunks']['next']> | undefined;
  return {
    next: async (ms) => {
      reading ??= stream.chunks.next();
      // A failed read that nobody awaits any more is reported by the next one.
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
  /** Something is missing: the next `drain` reads the history soon. False: the service has none. */
  missing: () => boolean;
  /** Reads the stream for a while; false at its end. A stream that is silent for too long is `unavailable`. */
  drain: (frames: FrameReader) => Promise<boolean>;
}

/** So many events may be announced by the stream before the history is read, whatever its pace. */
const MOST_ANNOUNCED = 5000;
/** So many of them are kept whole, for a history that does not show them. */
const MOST_WHOLE = 500;
const QUIET_MS = 2000;

/** What a reader knows; all times are monotonic, ms. */
interface Reading extends ReaderDeps {
  history: History;
  announced: Map<string, { event: ManagedEvent | undefined; since: number }>;
  /** Has the service a list of events? */
  served: boolean;
  readAt: number;
  heardAt: number;
  pace: number;
  /** A frame could not be read, or the connection is new: something may be missing. */
  suspect: boolean;
}

/**
 * The stream announces, the history tells: only its order is that of the log. What the history does not show within
 * `lagMs` is taken from the stream. A service without a history is read from the stream alone.
 */
export function openReader(deps: ReaderDeps, session: string): Reader {
  const { clock } = deps;
  const at: Reading = {
    ...deps,
    history: openHistory(deps.client, session),
    announced: new Map(),
    served: true,
    readAt: 0,
    heardAt: clock.monotonic(),
    pace: 0,
    suspect: false,
  };
  return {
    catchUp: async () => {
      at.heardAt = clock.monotonic();
      await readHistory(at);
    },
    missing: () => {
      at.suspect = true;
      return at.served;
    },
    drain: (frames) => drain(at, frames),
  };
}

async function accept({ log, turn, announced }: Reading, events: readonly Keyed[]): Promise<void> {
  for (const event of log.append(events)) turn.add(event);
  for (const { key } of events) announced.delete(key);
  await log.show();
}

async function readHistory(at: Reading): Promise<void> {
  const { timing, announced, log } = at;
  at.suspect = false;
  at.served = await at.history.read((events) => accept(at, events));
  const now = at.clock.monotonic();
  // Events that come one after the other are read together: the service counts requests.
  const [shortest, longest] = timing.paceMs;
  const isQuiet = now - at.readAt > QUIET_MS;
  at.pace = isQuiet ? shortest : Math.min(longest, Math.max(shortest, at.pace * 1.5));
  at.readAt = now;
  const late = [...announced].filter(([, { since }]) => now - since > timing.lagMs);
  for (const [key] of late) announced.delete(key);
  await accept(
    at,
    late.flatMap(([key, { event }]) => (event === undefined || log.has(key) ? [] : [{ key, event }])),
  );
}

async function note(at: Reading, event: Frame): Promise<void> {
  const { served, log, announced } = at;
  if (event === undefined || (served && !hasId(event))) {
    at.suspect = true;
    return;
  }
  // Without ids and without a history, what says the same is the same.
  const key = hasId(event) ? event.id : JSON.stringify(event);
  if (!log.has(key)) {
    if (!served) await accept(at, [{ key, event }]);
    else if (!announced.has(key)) {
      const whole = announced.size < MOST_WHOLE ? event : undefined;
      announced.set(key, { event: whole, since: at.clock.monotonic() });
    }
  } else if (!served && event.type.startsWith('session.status_')) {
    // Shown before; but it says where the session stands now.
    at.turn.add(event);
  }
}

async function drain(at: Reading, frames: FrameReader): Promise<boolean> {
  const { clock, timing, announced } = at;
  const isWanted = (): boolean => at.served && (at.suspect || announced.size > 0);
  const now = clock.monotonic();
  const dueIn = isWanted()
    ? Math.max(0, at.readAt + at.pace - now)
    : Math.max(1, Math.min(at.readAt + timing.lookMs, at.heardAt + timing.silenceMs) - now + 1);
  const got = await frames.next(dueIn);
  if (got === undefined) return false;
  if (got.alive) at.heardAt = clock.monotonic();
  for (const frame of got.frames) await note(at, frame);
  const later = clock.monotonic();
  if (later - at.heardAt > timing.silenceMs) {
    at.heardAt = later;
    throw silent(at.client.host);
  }
  const since = later - at.readAt;
  const isDue = isWanted() && since >= at.pace;
  if (isDue || announced.size > MOST_ANNOUNCED || since >= timing.lookMs) await readHistory(at);
  return true;
}

function silent(host: string): StewardError {
  return new StewardError('unavailable', `The stream of ${host} has been silent for too long.`, {
    hint: 'It is opened again.',
    cause: { code: 'SILENT', sent: true },
  });
}
