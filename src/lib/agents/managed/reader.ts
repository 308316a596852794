import { within } from '../../platform/time/wait';
import type { Keyed } from './session-log';
import { StewardError } from '../../errors';
import { parseObject } from '../../platform/files/json-object';
import { networkFailureOf } from '../../platform/net/network-failure';
import type { OriginStream } from '../../platform/net/origin-client';
import { cleanLine } from '../../platform/terminal/terminal';
import type { Clock } from '../../platform/time/clock';
import type { ManagedClient } from './client';
import { asEvent, eventKey, hasId, textField, type ManagedEvent } from './event';
import { failureOf, isNotServed, type Timing } from './failure';
import type { SessionLog } from './session-log';
import { addEvent, type Turn } from './turn';

const MAX_EVENTS = 1000;
/** Rereading up to this many events is cheaper than an extra request for a new cursor. */
const SHORT_TAIL = 100;
/** Position of the last page: its cursor, the key of the preceding event, and the number of events on the page. */
const START = { page: undefined as string | undefined, before: '', tail: 0 };

export function openHistory(client: Pick<ManagedClient, 'events'>, session: string) {
  return { client, session, position: START, maxEvents: MAX_EVENTS };
}

/** Progress in reading a session's history from the service. */
type History = ReturnType<typeof openHistory>;

/**
 * Passes each page to `take`. Starts by rereading the last page of the previous call, so `take` may receive
 * that page's events again.
 */
export async function readHistory(history: History, take: (events: Keyed[]) => Promise<void> | void) {
  for (;;) {
    const found = await readPage(history);
    if (found === undefined) continue;
    const { page, before } = history.position;
    let last = before;
    const events = found.data.map((event) => {
      last = eventKey(event, last);
      return { key: last, event };
    });
    await take(events);
    if (found.next === undefined || found.next === page) {
      history.position = { page, before, tail: events.length };
      return;
    }
    history.position = { page: found.next, before: last, tail: 0 };
  }
}

/** Returns a page, or undefined if the request must be repeated with different parameters. */
async function readPage(history: History) {
  const { client, session, position, maxEvents } = history;
  // Limit the page to the events already read, so that new events start on a new page.
  const limit = Math.min(maxEvents, position.tail > SHORT_TAIL ? position.tail : MAX_EVENTS);
  try {
    return await client.events(session, { page: position.page, limit });
  } catch (error) {
    if (networkFailureOf(error)?.code === 'TOO_LARGE' && limit > 1) {
      history.maxEvents = Math.max(1, Math.floor(limit / 8));
      return undefined;
    }
    // The service rejects an expired cursor, so reread the whole history.
    if (position.page === undefined || failureOf(error)?.status !== 400) throw error;
    history.position = START;
    return undefined;
  }
}

/** A frame from the stream: an event, or undefined if the frame can't be parsed. */
type Frame = ManagedEvent | undefined;

type FrameReader = Awaited<ReturnType<typeof readFrames>>;

const MAX_FRAME = 64 * 1024 * 1024;
/** Event types that the history never contains. */
const PARTIAL = new Set(['event_start', 'event_delta', 'ping']);

/** Decodes a stream of server-sent events. Drops an incomplete frame at the end. */
export async function readFrames(stream: OriginStream) {
  const { createParser } = await import('eventsource-parser');
  const decoder = new TextDecoder();
  let frames: Frame[] = [];
  let failure: StewardError | undefined;
  const parser = createParser({
    maxBufferSize: MAX_FRAME,
    onEvent: ({ event: name, data, id }) => {
      const value = parseObject(data);
      if (name === 'error') failure = streamError(value);
      const event = asEvent(value);
      if (event !== undefined && PARTIAL.has(event.type)) return;
      const isComplete = event === undefined || hasId(event) || id === undefined || id === '';
      frames.push(isComplete ? event : { ...event, id });
    },
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') failure = streamError(undefined);
    },
  });
  let reading: ReturnType<OriginStream['chunks']['next']> | undefined;
  return {
    /** Waits up to `ms` for frames. Returns undefined if the stream has ended. */
    next: async (ms: number): Promise<{ frames: Frame[]; isAlive: boolean } | undefined> => {
      reading ??= stream.chunks.next();
      // Prevents an unhandled rejection if the read fails after the timeout. The next call to `next` throws
      // the error.
      reading.catch(() => undefined);
      const read = await within(ms, reading, undefined);
      if (read === undefined) return { frames: [], isAlive: false };
      reading = undefined;
      if (read.done === true) return undefined;
      parser.feed(decoder.decode(read.value, { stream: true }));
      if (failure !== undefined) throw failure;
      const ready = frames;
      frames = [];
      return { frames: ready, isAlive: true };
    },
    close: () => stream.close(),
  };
}

function streamError(value: Record<string, unknown> | undefined): StewardError {
  const message = textField(value?.['error'], 'message');
  const reason = message === undefined ? '' : `: ${cleanLine(message, 200)}`;
  return new StewardError('unavailable', `The service closed the stream${reason}.`, {
    hint: 'Resume the session with "steward agents managed wake".',
    cause: { code: 'STREAM_ERROR', sent: true },
  });
}

interface ReaderDeps {
  client: ManagedClient;
  clock: Clock;
  timing: Timing;
  log: SessionLog;
  turn: Turn;
}

/** The history is read immediately if the stream contains more new events than this. */
const MAX_ANNOUNCED = 5000;
/** Maximum number of stream events to keep in full until they appear in the history. */
const MAX_WHOLE = 500;
const QUIET_MS = 2000;

/**
 * Opens a reader that passes a session's events to the local log, the screen and the current turn. It stores events in the order of the history. If the history still lacks an event from the
 * stream after `lagMs`, the reader stores the stream's copy.
 */
export function openReader(deps: ReaderDeps, session: string) {
  return {
    ...deps,
    history: openHistory(deps.client, session),
    announced: new Map<string, { event: ManagedEvent | undefined; since: number }>(),
    readAt: 0,
    lastDataAt: deps.clock.monotonic(),
    pace: 0,
    /** Whether events may be missing, because a frame was unreadable or a sent event hasn't appeared. */
    isIncomplete: false,
    /** Whether the service can list events; undefined before the first attempt. */
    hasHistory: undefined as boolean | undefined,
  };
}

/** All times are in ms on a monotonic clock. */
export type EventReader = ReturnType<typeof openReader>;

/** Reads the history to its end. */
export async function catchUp(reader: EventReader): Promise<void> {
  reader.lastDataAt = reader.clock.monotonic();
  await readNew(reader);
}

async function accept({ log, turn, announced }: EventReader, events: readonly Keyed[]): Promise<void> {
  for (const event of log.append(events)) addEvent(turn, event);
  for (const { key } of events) announced.delete(key);
  await log.show();
}

async function readNew(reader: EventReader): Promise<void> {
  const { timing, announced, log, clock } = reader;
  reader.isIncomplete = false;
  if (reader.hasHistory !== false) {
    try {
      await readHistory(reader.history, (events) => accept(reader, events));
      reader.hasHistory = true;
    } catch (error) {
      if (reader.hasHistory === true || !isNotServed(error)) throw error;
      reader.hasHistory = false;
    }
  }
  const now = clock.monotonic();
  // Read less often during a burst of events, because the service has a rate limit.
  const [shortest, longest] = timing.paceMs;
  const isQuiet = now - reader.readAt > QUIET_MS;
  reader.pace = isQuiet ? shortest : Math.min(longest, Math.max(shortest, reader.pace * 1.5));
  reader.readAt = now;
  const late = [...announced].filter(([, { since }]) => now - since > timing.lagMs);
  for (const [key] of late) announced.delete(key);
  await accept(
    reader,
    late.flatMap(([key, { event }]) => (event === undefined || log.has(key) ? [] : [{ key, event }])),
  );
}

async function announce(reader: EventReader, event: Frame): Promise<void> {
  const { log, announced, clock, turn } = reader;
  if (reader.hasHistory === false) {
    if (event === undefined) return;
    const key = hasId(event) ? event.id : JSON.stringify(event);
    if (!log.has(key)) await accept(reader, [{ key, event }]);
    // A session can return to an earlier status, so apply a status event even if the log already contains it.
    else if (event.type.startsWith('session.status_')) addEvent(turn, event);
    return;
  }
  if (event === undefined || !hasId(event)) reader.isIncomplete = true;
  else if (!log.has(event.id) && !announced.has(event.id)) {
    const whole = announced.size < MAX_WHOLE ? event : undefined;
    announced.set(event.id, { event: whole, since: clock.monotonic() });
  }
}

/**
 * Reads available frames; returns false if the stream has ended. Throws `unavailable` after `silenceMs`
 * without data.
 */
export async function drain(reader: EventReader, frames: FrameReader): Promise<boolean> {
  const { clock, timing, announced } = reader;
  const isDue = (): boolean => reader.hasHistory !== false && (reader.isIncomplete || announced.size > 0);
  const now = clock.monotonic();
  const waitMs = isDue()
    ? Math.max(0, reader.readAt + reader.pace - now)
    : Math.max(1, Math.min(reader.readAt + timing.rereadMs, reader.lastDataAt + timing.silenceMs) - now + 1);
  const read = await frames.next(waitMs);
  if (read === undefined) return false;
  const later = clock.monotonic();
  if (read.isAlive) reader.lastDataAt = later;
  for (const frame of read.frames) await announce(reader, frame);
  if (later - reader.lastDataAt > timing.silenceMs) {
    reader.lastDataAt = later;
    throw new StewardError('unavailable', `The stream from ${reader.client.host} is silent.`, {
      hint: 'steward is reopening the stream.',
      cause: { code: 'SILENT', sent: true },
    });
  }
  const sinceRead = later - reader.readAt;
  const isOverdue = announced.size > MAX_ANNOUNCED || sinceRead >= timing.rereadMs;
  if (isOverdue || (isDue() && sinceRead >= reader.pace)) await readNew(reader);
  return true;
}
