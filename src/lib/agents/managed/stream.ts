import type { OriginStream } from '../../platform/net/origin-client';
import { StewardError } from '../../errors';
import { parseObject } from '../../platform/files/json-object';
import { cleanLine } from '../../platform/terminal/terminal';
import { asEvent, hasId, textOf, type ManagedEvent } from './event';

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
