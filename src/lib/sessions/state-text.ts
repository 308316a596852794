import { toIso } from '../platform/clock';
import { parseSessions, type Session, type SessionsState } from './session';
import { END, LF, placesOf, SEPARATOR, startOf, woken } from './state-lines';

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

const UPDATED = '"updatedAt":"';

/** Quotes inside of texts are escaped in JSON, so what stands here with its quotes is a key. */
function isAsleep(line: string, before: string, wanted: readonly string[]): boolean {
  if (!line.includes('"activity":"ended"')) return false;
  const at = line.indexOf(UPDATED);
  const updated = line.slice(at + UPDATED.length, at + UPDATED.length + before.length);
  return at !== -1 && updated < before && !wanted.some((name) => line.includes(name));
}
