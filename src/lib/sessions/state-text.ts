import { toIso } from '../platform/clock';
import { parseSessions, type Session, type SessionsState } from './session';

/**
 * The text of `sessions.json`: JSON with a session a line, so that a hook which brings one event into it need
 * not parse thousands of sessions that have long ended: their lines are carried over as they are.
 */
export function stateText(state: SessionsState, asleep: ReadonlyMap<string, string> = new Map()): string {
  const { sessions, ...head } = state;
  const awake = Object.values(sessions).map((session) => lineOf(session));
  return `${JSON.stringify({ ...head, sessions: {} }).slice(0, -2)}\n${[...asleep.values(), ...awake].join(',\n')}\n}}\n`;
}

function lineOf(session: Session): string {
  return `${JSON.stringify(session.slug)}:${JSON.stringify(session)}`;
}

/** A part of the sessions, and the lines of the others by slug. */
export interface Awake {
  state: SessionsState;
  asleep: ReadonlyMap<string, string>;
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
export function openText(text: string): OpenText | undefined {
  const end = text.indexOf('\n');
  const start = text.slice(0, end);
  if (!start.endsWith('"sessions":{') || !text.endsWith('\n}}\n')) return undefined;
  const head = parseSessions(`${start}}}`);
  if (head === undefined) return undefined;
  return {
    head,
    wake(names, nowMs) {
      const wanted = names.map((name) => JSON.stringify(name));
      const before = toIso(nowMs - ASLEEP_AFTER_MS);
      const awake: string[] = [];
      const asleep = new Map<string, string>();
      for (const line of text.slice(end + 1, -4).split(',\n')) {
        const session = line.endsWith('\n') ? line.slice(0, -1) : line;
        const slug = isAsleep(session, before, wanted) ? SLUG.exec(session)?.[1] : undefined;
        if (slug === undefined) awake.push(session);
        else asleep.set(slug, session);
      }
      const state = parseSessions(`${start}${awake.join(',')}}}`);
      return state === undefined ? undefined : { state, asleep };
    },
  };
}

/**
 * The sessions whose lines have a name in them (a slug, an id of the assistant's), and none of the others, which are
 * not even decoded: a hook that only wants its own reads a file of thousands. Undefined as for `openText`.
 */
export function sessionsNaming(bytes: Buffer, name: string): SessionsState | undefined {
  const end = bytes.indexOf(LF);
  const start = bytes.toString('utf8', 0, Math.max(0, end));
  const tail = bytes.toString('latin1', Math.max(0, bytes.length - 4));
  if (!start.endsWith('"sessions":{') || tail !== '\n}}\n') return undefined;
  const wanted = JSON.stringify(name);
  const lines: string[] = [];
  for (let at = bytes.indexOf(wanted, end); at !== -1;) {
    const from = bytes.lastIndexOf(LF, at) + 1;
    const to = bytes.indexOf(LF, at);
    lines.push(bytes.toString('utf8', from, to).replace(/,$/, ''));
    at = bytes.indexOf(wanted, to);
  }
  return parseSessions(`${start}${lines.join(',')}}}`);
}

const LF = 10;

const SLUG = /^"([a-z0-9][a-z0-9._-]{0,80})":\{/;
const UPDATED = '"updatedAt":"';

/** Quotes inside of texts are escaped in JSON, so what stands here with its quotes is a key. */
function isAsleep(line: string, before: string, wanted: readonly string[]): boolean {
  if (!line.includes('"activity":"ended"')) return false;
  const at = line.indexOf(UPDATED);
  const updated = line.slice(at + UPDATED.length, at + UPDATED.length + before.length);
  return at !== -1 && updated < before && !wanted.some((name) => line.includes(name));
}
