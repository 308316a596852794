import { toIso } from '../platform/time/clock';
import { parseSessions, type Session, type SessionsState } from './session';
import { END, HEAD_END } from './state-lines';

/**
 * The text of `sessions.json`: JSON with a session a line. First come those that have long ended, as one block of so many
 * bytes as the head's `asleep` says: a hook that brings one event into a file of thousands of sessions carries the block
 * over as it is, and neither parses nor even decodes it.
 */
export function stateText(state: SessionsState, asleep: Asleep = NOBODY): Uint8Array[] {
  const { sessions, ...head } = state;
  const bytes = asleep.lines.reduce((sum, part) => sum + part.length + SEPARATOR.length, 0);
  const start = JSON.stringify({
    ...head,
    asleep: Math.max(0, bytes - SEPARATOR.length),
    sessions: {},
  }).slice(0, -2);
  const awake = Object.values(sessions).map((session) => Buffer.from(lineOf(session)));
  const lines = [...asleep.lines, ...awake].flatMap((line, index) =>
    index === 0 ? [line] : [SEPARATOR, line],
  );
  return [Buffer.from(`${start}\n`), ...lines, Buffer.from(END)];
}

function lineOf(session: Session): string {
  return `${JSON.stringify(session.slug)}:${JSON.stringify(session)}`;
}

/** Sessions that nobody looks at. */
export interface Asleep {
  isEmpty: boolean;
  has(slug: string): boolean;
  /** Their lines, or several of them in one piece, without the separator at the ends. */
  lines: readonly Buffer[];
}

export const NOBODY: Asleep = { isEmpty: true, has: () => false, lines: [] };

/** A part of the sessions, and the lines of the others. */
export interface Awake {
  state: SessionsState;
  asleep: Asleep;
}

/** What a text says beside its sessions, and those sessions that one asks for. */
export interface OpenText {
  head: SessionsState;
  /** Those that run, ended lately, or have one of the names (slugs, ids of the assistant's) in their line. */
  wake(names: readonly string[], nowMs: number): Awake | undefined;
}

const LF = 10;
const SEPARATOR = Buffer.from(',\n');

/** A session that ended longer ago than this is looked at only when somebody names it. */
const ASLEEP_AFTER_MS = 86_400_000;

/** Undefined for a text that another tool wrote in another form: it has to be parsed as a whole. */
export function openText(bytes: Buffer): OpenText | undefined {
  const start = startOf(bytes);
  const head = start === undefined ? undefined : parseSessions(`${start}}}`);
  if (start === undefined || head === undefined) return undefined;
  const from = Buffer.byteLength(start) + 1;
  const to = from + Number(/"asleep":(\d+),"sessions":\{$/.exec(start)?.[1] ?? 0);
  const end = bytes.length - END.length;
  // Another tool may have changed the file: a block ends where a line does.
  const isBlock = to === from || to === end || (to < end && bytes.subarray(to, to + 2).equals(SEPARATOR));
  if (!isBlock) return undefined;
  return {
    head,
    wake(names, nowMs) {
      const wanted = names.map((name) => JSON.stringify(name));
      const before = toIso(nowMs - ASLEEP_AFTER_MS);
      const { asleep, awake } = woken(bytes.subarray(from, to), wanted);
      for (const line of linesOf(bytes.toString('utf8', to === from ? from : to + 2, end))) {
        if (isAsleep(line, before, wanted)) asleep.push(Buffer.from(line));
        else awake.push(line);
      }
      const state = parseSessions(`${start}${awake.join(',')}}}`);
      return state === undefined ? undefined : { state, asleep: sleeping(asleep) };
    },
  };
}

function sleeping(lines: readonly Buffer[]): Asleep {
  return {
    isEmpty: lines.length === 0,
    has(slug) {
      const key = `${JSON.stringify(slug)}:{`;
      return lines.some((part) => placesOf(part, key).some((at) => at === 0 || part[at - 1] === LF));
    },
    lines,
  };
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(',\n');
}

/** The first line, up to where the sessions begin; undefined for another form. */
function startOf(bytes: Buffer): string | undefined {
  const start = bytes.toString('utf8', 0, Math.max(0, bytes.indexOf(LF)));
  const tail = bytes.toString('latin1', Math.max(0, bytes.length - END.length));
  return start.endsWith(HEAD_END) && tail === END ? start : undefined;
}

/** Takes the lines that have one of the texts in them out of a block. */
function woken(block: Buffer, wanted: readonly string[]): { asleep: Buffer[]; awake: string[] } {
  const spans = wanted
    .flatMap((name) => placesOf(block, name))
    .map((at) => lineAround(block, at))
    .sort((a, b) => a.from - b.from);
  const asleep: Buffer[] = [];
  const awake: string[] = [];
  let kept = 0;
  for (const { from, to } of spans) {
    // Two names in one line.
    if (from < kept) continue;
    if (from > kept) asleep.push(block.subarray(kept, from - SEPARATOR.length));
    awake.push(block.toString('utf8', from, to));
    kept = to + SEPARATOR.length;
  }
  if (kept < block.length) asleep.push(block.subarray(kept));
  return { asleep, awake };
}

function placesOf(bytes: Buffer, text: string): number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) places.push(at);
  return places;
}

/** The line around a place, without its separator. */
function lineAround(bytes: Buffer, at: number): { from: number; to: number } {
  const feed = bytes.indexOf(LF, at);
  const last = feed === -1 ? bytes.length : feed - 1;
  return { from: bytes.lastIndexOf(LF, at) + 1, to: last };
}

const UPDATED = '"updatedAt":"';

/** Quotes inside of texts are escaped in JSON, so what stands here with its quotes is a key. */
function isAsleep(line: string, before: string, wanted: readonly string[]): boolean {
  if (!line.includes('"activity":"ended"')) return false;
  const at = line.indexOf(UPDATED);
  const updated = line.slice(at + UPDATED.length, at + UPDATED.length + before.length);
  return at !== -1 && updated < before && !wanted.some((name) => line.includes(name));
}
