import { shortHash } from '../../platform/files/short-hash';
import { csv } from '../../platform/terminal/csv';
import { cleanLine } from '../../platform/terminal/terminal';
import { toIso } from '../../platform/time/clock';
import type { Piece } from './attention';
import type { TimeReport } from './rows';

/** An interval of your tracked time. */
export interface TrackedInterval {
  startMs: number;
  endMs: number;
  key: string;
}

/** Joins samples with the same key into intervals that don't overlap. Rounds to whole seconds. */
export function intervalsOf(pieces: readonly Piece[], keyOf: (piece: Piece) => string): TrackedInterval[] {
  const intervals: TrackedInterval[] = [];
  for (const piece of [...pieces].sort((a, b) => a.span[0] - b.span[0] || a.span[1] - b.span[1])) {
    const last = intervals.at(-1);
    const [from, to] = piece.span.map((ms) => Math.floor(ms / 1000) * 1000) as [number, number];
    const startMs = Math.max(from, last?.endMs ?? 0);
    if (startMs >= to) continue;
    const key = keyOf(piece);
    if (last?.key === key && startMs - last.endMs <= 1000) last.endMs = to;
    else intervals.push({ startMs, endMs: to, key });
  }
  return intervals;
}

const MAX_KEY = 400;

export function timeCsv({ rows }: TimeReport): Generator<string> {
  return csv(['key', 'minutes', 'working', 'waiting', 'heldUp'], rows, (row) => [
    [row.key, row.minutes, row.working, row.waiting, row.heldUp],
  ]);
}

/** Yields the lines of a Timewarrior data file. */
export function* timewarrior(intervals: readonly TrackedInterval[]): Generator<string> {
  for (const { startMs, endMs, key } of intervals) {
    const tag = cleanLine(key, MAX_KEY).replace(/["\\]/g, "'");
    yield `inc ${compact(startMs)} - ${compact(endMs)} # "${tag}"\n`;
  }
}

/** Yields an iCalendar file with one event per interval. */
export function* ics(intervals: readonly TrackedInterval[]): Generator<string> {
  yield 'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//steward//time//EN\r\n';
  for (const { startMs, endMs, key } of intervals) {
    const lines = [
      'BEGIN:VEVENT',
      `UID:${compact(startMs)}-${shortHash(key)}@steward`,
      `DTSTAMP:${compact(endMs)}`,
      `DTSTART:${compact(startMs)}`,
      `DTEND:${compact(endMs)}`,
      `SUMMARY:${cleanLine(key, MAX_KEY).replace(/[\\;,]/g, '\\$&')}`,
      'END:VEVENT',
    ];
    yield lines.map((line) => `${folded(line)}\r\n`).join('');
  }
  yield 'END:VCALENDAR\r\n';
}

function compact(ms: number): string {
  return toIso(ms).replace(/[-:]|\.\d+/g, '');
}

const MAX_OCTETS = 74;

/** Folds an iCalendar line at 75 octets, without splitting characters. */
function folded(line: string): string {
  let text = '';
  let octets = 0;
  for (const char of line) {
    const size = Buffer.byteLength(char);
    if (octets + size > MAX_OCTETS) {
      text += '\r\n ';
      octets = 0;
    }
    text += char;
    octets += size;
  }
  return text;
}
