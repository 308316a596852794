import { dirname, resolve } from 'node:path';

import { unless } from '../errors';
import { isObject, parseObject, textOf } from '../platform/files/json-object';
import { lineScanner, readHead } from '../platform/files/jsonl';
import { queryRows } from '../platform/files/sqlite';
import { forShell } from '../platform/process/spawn';
import { clean } from '../platform/terminal/terminal';
import { parseIso, toIso } from '../platform/time/clock';
import type { Assistant } from './assistant';
import { editedBy, messageIn, spoken, type SpokenMessage } from './find-message';
import { hasAll, shownLine, type FindTerm } from './find-words';
import { orUndefined } from './registered';
import { entryReader, placeReader, UNREADABLE } from './transcripts';

export interface FindQuery {
  terms: readonly FindTerm[];
  by: string | undefined;
  repo: string | undefined;
  startMs: number;
  endMs: number;
  /** Searches the paths of edited files instead of the messages. */
  files: boolean;
  /** The number of sessions after which the search stops. */
  limit: number;
}

/** The newest message of a session that has the words. */
export interface FoundSession {
  assistant: string;
  session: string;
  at: string;
  repo: string | null;
  by: SpokenMessage['by'];
  line: string;
  /** The command that resumes the session; null if its id or folder can't be part of a command. */
  resume: string | null;
}

type Said = SpokenMessage & { session: string; cwd: string; ms: number };

const NO_SQLITE = 'OpenCode, because reading its database requires Node.js 22.13 or later.';
/** How the names of databases with the messages of many sessions end. */
const DATABASE = '.db';
const MAX_HEAD = 256 * 1024;
const SESSION_ID = /^[\w-]{1,100}$/;
const PARTS = `SELECT part.session_id AS session, directory AS cwd, part.time_created AS ms, part.data AS data,
  json_extract(message.data, '$.role') AS role FROM part JOIN message ON message.id = message_id
  JOIN session ON session.id = part.session_id WHERE part.data LIKE ? ORDER BY ms DESC LIMIT 10000`;

/**
 * Searches logs, and calls `onFound` for each session. Calls `pause` between parts, and stops when it returns false.
 * Returns notes about what was not searched.
 */
export async function findSessions(
  logs: readonly { assistant: Assistant; path: string }[],
  query: FindQuery,
  { onFound, pause }: { onFound: (found: FoundSession) => void; pause: () => Promise<boolean> },
): Promise<string[]> {
  const known = new Set<string>();
  const notes = new Set<string>();
  const read = searcher(query, (text) => notes.add(`Not searched: ${text}`));
  for (const { assistant, path } of logs) {
    const newest = new Map<string, ReturnType<typeof foundIn>>();
    for (const part of read(path)) {
      for (const said of part) {
        const found = foundIn(assistant, said);
        if (found.at >= (newest.get(said.session)?.at ?? '')) newest.set(said.session, found);
      }
      if (!(await pause())) return [...notes, 'Stopped before everything was searched.'];
    }
    for (const { text, ...found } of [...newest.values()].sort((a, b) => (a.at < b.at ? 1 : -1))) {
      const key = `${found.assistant} ${found.session}`;
      if (known.has(key)) continue;
      if (known.size === query.limit)
        return [...notes, `Stopped after ${known.size} sessions; --limit shows more.`];
      known.add(key);
      onFound({ ...found, line: shownLine(query.terms, text) });
    }
  }
  return [...notes];
}

function foundIn({ title, resume }: Assistant, { session, ms, cwd, repo, by, text }: Hit) {
  const isSafe = SESSION_ID.test(session) && clean(cwd) === cwd;
  const command = resume === undefined || !isSafe ? null : `cd ${forShell(cwd)} && ${resume(session)}`;
  return { assistant: title, session: clean(session), at: toIso(ms), repo, by, text, resume: command };
}

type Hit = Said & Pick<FoundSession, 'repo'>;

function searcher({ terms, by, repo, startMs, endMs, files }: FindQuery, note: (text: string) => unknown) {
  const [longest, ...others] = [...terms].sort((a, b) => b.run.length - a.run.length);
  const { bytes = '', run = '' } = longest ?? {};
  const scan = lineScanner(
    new RegExp(bytes, 'gi'),
    others.map((term) => term.bytes),
  );
  const placeOf = placeReader();
  const hitsOf = (said: Said): Hit[] => {
    const { ms, cwd, text } = said;
    if (ms < startMs || ms >= endMs || (by !== undefined && said.by !== by) || !hasAll(terms, text))
      return [];
    const edited = files ? text.split('\n').map((path) => dirname(resolve(cwd, path))) : [];
    const [place, ...places] = [cwd, ...edited].map(placeOf);
    const isOther = repo !== undefined && place?.repo?.toLowerCase() !== repo.toLowerCase();
    if (place === undefined || places.includes(undefined) || isOther) return [];
    return [{ ...said, repo: place.repo ?? null }];
  };
  function* transcript(path: string): Generator<Hit[]> {
    const entryOf = entryReader();
    const parts = scan(path);
    let isBegun = false;
    for (;;) {
      const part = unless(UNREADABLE, () => parts.next());
      if (part === undefined) note(path);
      if (part === undefined || part.done === true) return;
      yield part.value.flatMap((line) => {
        if (!isBegun) entryOf(firstLine(path));
        isBegun = true;
        const { timestamp = '', session, cwd = '' } = entryOf(line) ?? {};
        const [ms, message] = [parseIso(timestamp), messageIn(parseObject(line) ?? {}, files)];
        if (ms === undefined || session === undefined || message === undefined) return [];
        return hitsOf({ ...message, session, cwd, ms });
      });
    }
  }
  function* database(path: string): Generator<Hit[]> {
    // SQLite ignores the case of ASCII letters only.
    const like = /^\w+$/.test(run) ? `%${run}%` : '%';
    let problem = NO_SQLITE;
    const rows = orUndefined(
      () => queryRows(path, PARTS, [like]),
      ({ message }) => (problem = message),
    );
    if (rows === undefined) note(problem);
    yield (rows ?? []).flatMap(({ session, cwd, ms, role, data }) => {
      const { type, text, tool, state } = parseObject(textOf(data) ?? '') ?? {};
      const edited = editedBy({ name: tool, input: isObject(state) ? state['input'] : undefined });
      const own = files ? edited : type === 'text' ? textOf(text) : undefined;
      const place = { session: textOf(session) ?? '', cwd: textOf(cwd) ?? '', ms: Number(ms) };
      return own === undefined ? [] : hitsOf({ ...spoken(textOf(role), own), ...place });
    });
  }
  return (path: string) => (path.endsWith(DATABASE) ? database : transcript)(path);
}

function firstLine(path: string): string {
  return readHead(path, MAX_HEAD)?.toString('utf8').split('\n', 1)[0] ?? '';
}
