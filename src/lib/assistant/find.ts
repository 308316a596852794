import { dirname, resolve } from 'node:path';

import { unless } from '../errors';
import { isObject, parseObject, textOf } from '../platform/files/json-object';
import { lineSearch } from '../platform/files/line-search';
import { queryRows } from '../platform/files/sqlite';
import { forShell } from '../platform/process/spawn';
import { plural } from '../platform/terminal/format';
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

/** The newest message of a session that has the words. `resume`: the command that resumes it, if its id and folder are safe. */
export type FoundSession = ReturnType<typeof foundIn>;

type Said = SpokenMessage & { session: string; cwd: string; ms: number };

/** How the names of databases with the messages of many sessions end. */
const DATABASE = '.db';
/** Longer lines contain images or whole files. */
const MAX_LINE_BYTES = 4 * 1024 * 1024;
const SESSION_ID = /^[\w-]{1,100}$/;
const PARTS = `SELECT part.session_id AS session, directory AS cwd, part.time_created AS ms, part.data AS data,
  json_extract(message.data, '$.role') AS role FROM part JOIN message ON message.id = message_id
  JOIN session ON session.id = part.session_id WHERE part.data LIKE ? ORDER BY ms DESC LIMIT 10000`;

/**
 * Searches logs, newest first, and calls `onFound` for each session in the order of their times, so each waits until
 * only older logs are left. Calls `pause` after each log, and stops when it returns false. Returns notes about what
 * was not searched.
 */
export async function findSessions(
  logs: readonly { assistant: Assistant; path: string; mtimeMs: number }[],
  query: FindQuery,
  { onFound, pause }: { onFound: (found: FoundSession) => unknown; pause: () => Promise<boolean> },
): Promise<string[]> {
  const shown = new Set<string>();
  const held = new Map<string, { ms: number; found: FoundSession }>();
  const notes = new Set<string>();
  const read = searcher(query, (text) => notes.add(`Not searched: ${text}`));
  const showSince = (oldestMs: number): boolean => {
    const rows = [...held].filter(([, { ms }]) => ms >= oldestMs).sort(([, a], [, b]) => b.ms - a.ms);
    return rows.every(([key, { found }]) => {
      if (shown.size === query.limit) return false;
      held.delete(key);
      shown.add(key);
      onFound(found);
      return true;
    });
  };
  const stopped = `Stopped after ${plural(query.limit, 'session')}; --limit shows more.`;
  for (const { assistant, path, mtimeMs } of logs) {
    if (!showSince(mtimeMs)) return [...notes, stopped];
    const hits = read(path).sort((a, b) => a.ms - b.ms);
    for (const hit of new Map(hits.map((one) => [one.session, one])).values()) {
      const key = `${assistant.id} ${hit.session}`;
      if (shown.has(key) || hit.ms < (held.get(key)?.ms ?? 0)) continue;
      held.set(key, { ms: hit.ms, found: foundIn(assistant, hit, query.terms) });
    }
    if (await pause()) continue;
    showSince(0);
    return [...notes, 'Stopped before everything was searched.'];
  }
  return showSince(0) ? [...notes] : [...notes, stopped];
}

function foundIn(
  { title, resume }: Assistant,
  { session, ms, cwd, repo, by, text }: Hit,
  terms: readonly FindTerm[],
) {
  const isSafe = SESSION_ID.test(session) && clean(cwd) === cwd;
  const command = resume === undefined || !isSafe ? null : `cd ${forShell(cwd)} && ${resume(session)}`;
  const line = shownLine(terms, text);
  return { assistant: title, session: clean(session), at: toIso(ms), repo, by, line, resume: command };
}

type Hit = Said & { repo: string | null };

function searcher({ terms, by, repo, startMs, endMs, files }: FindQuery, note: (text: string) => unknown) {
  const longest = [...terms].sort((a, b) => b.run.length - a.run.length);
  const search = lineSearch(
    longest.map(({ bytes }) => bytes),
    MAX_LINE_BYTES,
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
  function transcript(path: string): Hit[] {
    const entryOf = entryReader();
    const hits: Hit[] = [];
    const isRead = unless(UNREADABLE, () =>
      search(path, (text) => {
        const { timestamp = '', session, cwd = '' } = entryOf(text) ?? {};
        const [ms, message] = [parseIso(timestamp), messageIn(parseObject(text) ?? {}, files)];
        if (ms === undefined || session === undefined || message === undefined) return;
        hits.push(...hitsOf({ ...message, session, cwd, ms }));
      }),
    );
    if (isRead !== true) note(path);
    return hits;
  }
  function database(path: string): Hit[] {
    // SQLite ignores the case of ASCII letters only.
    const [{ run = '' } = {}] = longest;
    const like = /^\w+$/.test(run) ? `%${run}%` : '%';
    const rows = orUndefined(
      () => queryRows(path, PARTS, [like]),
      ({ message }) => note(`OpenCode: ${message}`),
    );
    return (rows ?? []).flatMap(({ session, cwd, ms, role, data }) => {
      const { type, text, tool, state } = parseObject(textOf(data) ?? '') ?? {};
      const edited = editedBy({ name: tool, input: isObject(state) ? state['input'] : undefined });
      const own = files ? edited : type === 'text' ? textOf(text) : undefined;
      const place = { session: textOf(session) ?? '', cwd: textOf(cwd) ?? '', ms: Number(ms) };
      return own === undefined ? [] : hitsOf({ ...spoken(textOf(role), own), ...place });
    });
  }
  return (path: string) => (path.endsWith(DATABASE) ? database : transcript)(path);
}
