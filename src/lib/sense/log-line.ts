import { parseIso } from '../platform/time/clock';
import { readEvent, type SenseEvent } from './event';

/** What an event says beside its time. */
export type Signal = Omit<SenseEvent, 'ts'>;

/** One line of a log: what happened, and when, as it is written and in milliseconds. */
export interface SignalAt {
  /** Lines that say the same share it. */
  signal: Readonly<Signal>;
  ts: string;
  ms: number;
}

export interface LineReader {
  read(text: string): SignalAt | { invalid: string };
  /**
   * Reads a line where it stands, from `start` to `end` of a text of many. False unless it repeats an
   * earlier line at another time that belongs in the log; then it is for `read`.
   */
  readKnown(source: string, start: number, end: number, onEvent: OnEvent): boolean;
}

/** What happened, when in milliseconds, and when as it is written. */
export type OnEvent = (signal: Readonly<Signal>, ms: number, ts: string) => void;

/**
 * Reads the lines of a log. Those of a day differ in little but their time, so what follows the time is parsed
 * once: events whose lines say the same share one signal.
 *
 * @param belongs does an event of this time, ms, belong in the log?
 */
export function lineReader(belongs: (ms: number) => boolean = () => true): LineReader {
  const known = new Map<string, Signal>();
  return {
    read(text) {
      const event = parseLine(text);
      if ('invalid' in event) return event;
      const { ts, ...signal } = event;
      const at = Date.parse(ts);
      if (!belongs(at)) return { invalid: 'of another day' };
      const isUsual = text.startsWith(USUAL_START) && text.charCodeAt(USUAL_END) === QUOTE;
      // Unless a second "ts" follows, which then is the one that counts.
      const repeats = isUsual && text.startsWith(ts, USUAL_START.length) && ts.length === USUAL_LENGTH;
      if (repeats && known.size < MAX_KNOWN) known.set(text.slice(USUAL_END), signal);
      return { signal, ts, ms: at };
    },
    readKnown(source, start, end, onEvent) {
      const timeEnd = start + USUAL_END;
      if (timeEnd >= end || !source.startsWith(USUAL_START, start)) return false;
      // It begins with the quote that ends the time.
      const signal = known.get(source.slice(timeEnd, end));
      if (signal === undefined) return false;
      const ts = source.slice(start + USUAL_START.length, timeEnd);
      const ms = parseIso(ts);
      if (ms === undefined || !belongs(ms)) return false;
      onEvent(signal, ms, ts);
      return true;
    },
  };
}

/** How steward writes an event: `{"ts":"2026-11-21T08:14:00.000Z",…`. */
const USUAL_START = '{"ts":"';
const USUAL_LENGTH = 24;
const USUAL_END = USUAL_START.length + USUAL_LENGTH;
const QUOTE = 34;
/** Kinds of line that are kept in mind; a day has some dozens. */
const MAX_KNOWN = 1000;

function parseLine(text: string): SenseEvent | { invalid: string } {
  // An exception for each line of a file of noise takes minutes.
  if (!text.trimStart().startsWith('{')) return { invalid: 'not an object' };
  try {
    return readEvent(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return { invalid: 'not JSON' };
    throw error;
  }
}
