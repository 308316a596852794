import { isAbsolute, join } from 'node:path';

import { unless } from '../errors';
import { repositoryOf } from '../platform/files/git-folder';
import { isObject, parseObject, textOf } from '../platform/files/json-object';
import { readLines } from '../platform/files/jsonl';
import { lstatOf } from '../platform/files/folder';
import { entriesIn } from '../platform/files/stat';
import { clean } from '../platform/terminal/terminal';
import { parseIso } from '../platform/time/clock';
import { textIn } from './find-message';
import { isRestricted } from '../sessions/restricted';

/** The time, session and repository of a transcript entry, but never its text. */
export interface TranscriptActivity {
  session: string;
  repo?: string;
  ms: number;
}

/** Maximum folder depth. The deepest transcripts are `projects/<folder>/<session>/subagents/*.jsonl`. */
const MAX_DEPTH = 4;
const MAX_FILES = 20_000;
/** Maximum total size of the transcripts to read. The newest transcripts are read first. */
const MAX_BYTES = 1024 * 1024 * 1024;
/** Maximum line length. Longer lines contain files or images and are skipped. */
const MAX_LINE_BYTES = 256 * 1024;
const MAX_TEXT = 200;
const ENTRY = /^(?:user|assistant)$/;

/** Returns the transcripts that changed since `sinceMs`, newest first. */
export function transcriptsSince(
  folders: readonly string[],
  sinceMs: number,
): { path: string; size: number; mtimeMs: number }[] {
  return [...new Set(folders.flatMap((folder) => transcriptsIn(folder, 0)))]
    .slice(0, MAX_FILES)
    .flatMap((path) => {
      const facts = lstatOf(path);
      return facts?.isFile === true && facts.mtimeMs >= sinceMs ? [{ path, ...facts }] : [];
    })
    .sort((a, b) => b.mtimeMs - a.mtimeMs);
}

/** Returns a cached function that finds a folder's repository; undefined if the folder is unknown or restricted. */
export function placeReader(): (folder: string) => { repo?: string } | undefined {
  const places = new Map<string, { repo?: string } | undefined>();
  return (folder) => {
    if (!places.has(folder)) {
      const isOpen = isAbsolute(folder) && !folder.includes('\0') && !isRestricted(folder);
      const repo = isOpen ? repositoryOf(folder)?.name : undefined;
      const named = repo === undefined ? {} : { repo: clean(repo).slice(0, MAX_TEXT) };
      places.set(folder, isOpen ? named : undefined);
    }
    return places.get(folder);
  };
}

/** Calls `take` for each transcript entry since `sinceMs`. Skips files that can't be read. */
export function readTranscripts(
  folders: readonly string[],
  sinceMs: number,
  take: (activity: TranscriptActivity) => void,
): void {
  const placeOf = placeReader();
  let bytes = 0;
  for (const { path, size } of transcriptsSince(folders, sinceMs)) {
    bytes += size;
    if (bytes > MAX_BYTES) return;
    const entryOf = entryReader();
    unless(UNREADABLE, () =>
      readLines(path, { maxLineBytes: MAX_LINE_BYTES }, ({ text }) => {
        const entry = text === undefined ? undefined : entryOf(text);
        const ms = parseIso(entry?.timestamp ?? '');
        const session = clean(entry?.session ?? '').slice(0, MAX_TEXT);
        if (ms === undefined || ms < sinceMs || session === '') return;
        take({ session, ms, ...placeOf(entry?.cwd ?? '') });
      }),
    );
  }
}

export const UNREADABLE = ['EACCES', 'EPERM', 'EIO'];

export type TranscriptEntry = Record<'timestamp' | 'session' | 'cwd', string | undefined>;

/**
 * Returns a parser for one file's lines. The parser is stateful, because Codex and Copilot identify the session only
 * in the first line.
 */
export function entryReader(): (text: string) => TranscriptEntry | undefined {
  let meta: Omit<TranscriptEntry, 'timestamp'> | undefined;
  return (text) => {
    if (COPILOT_LINE.test(text)) {
      const { type, timestamp, data } = parseObject(text) ?? {};
      if (type === 'session.start' && isObject(data)) {
        const cwd = isObject(data['context']) ? textOf(data['context']['cwd']) : undefined;
        meta = { session: textOf(data['sessionId']), cwd };
      }
      return meta && { timestamp: textOf(timestamp), ...meta };
    }
    if (text.includes('"sessionId"')) {
      const entry = parseObject(text) ?? {};
      if (!ENTRY.test(String(entry['type']))) return undefined;
      const [timestamp, session, cwd] = ['timestamp', 'sessionId', 'cwd'].map((key) => textOf(entry[key]));
      return { timestamp, session, cwd };
    }
    const [, timestamp, type = ''] = CODEX_LINE.exec(text) ?? [];
    if (type === 'session_meta') {
      const payload = parseObject(text)?.['payload'];
      const { id, cwd, source } = isObject(payload) ? payload : {};
      meta = isObject(source) ? undefined : { session: textOf(id), cwd: textOf(cwd) };
    }
    return meta === undefined ? undefined : { timestamp, ...meta };
  };
}

const COPILOT_LINE =
  /^\{"type":"(?:session\.start|user\.message|assistant\.message|tool\.execution_start)","data":/;
const CODEX_LINE =
  /^\{"timestamp":"([^"]{1,40})",(?:"ordinal":\d{1,9},)?"type":"(session_meta|response_item|event_msg|turn_context)"/;

function transcriptsIn(folder: string, depth: number): string[] {
  const entries = unless(['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'], () => entriesIn(folder)) ?? [];
  return entries.flatMap(({ name, isFolder }) => {
    if (isFolder) return depth < MAX_DEPTH ? transcriptsIn(join(folder, name), depth + 1) : [];
    return name.endsWith('.jsonl') ? [join(folder, name)] : [];
  });
}

/** How a turn ended, according to the assistant's transcript. */
export interface TurnEnd {
  /** The assistant's last text in the turn. */
  text?: string;
  /** The id of the transcript entry with the last text. */
  id?: string;
  /** Whether the turn ended with an error. */
  isError: boolean;
}

/** Number of bytes to read from the end of a transcript. Large enough for any final response. */
const TAIL_BYTES = 512 * 1024;

/**
 * Returns how the last turn in a transcript ended; undefined if the file doesn't exist. Ignores subagents and
 * unknown entries.
 */
export function readTurnEnd(path: string): TurnEnd | undefined {
  const found = isAbsolute(path) ? lstatOf(path) : undefined;
  if (found?.isFile !== true) return undefined;
  let end: TurnEnd = { isError: false };
  readLines(path, { from: Math.max(0, found.size - TAIL_BYTES), tail: true }, ({ text }) => {
    const entry = text === undefined ? undefined : parseObject(text);
    if (entry === undefined || entry['isSidechain'] === true || entry['isMeta'] === true) return;
    const message = isObject(entry['message']) ? entry['message'] : {};
    const messageText = textOf(textIn(message['content']));
    if (entry['type'] === 'user' && messageText !== undefined) end = { isError: false };
    if (entry['type'] !== 'assistant') return;
    const isError = entry['isApiErrorMessage'] === true || typeof entry['error'] === 'string';
    const id = entry['uuid'];
    if (messageText === undefined) end = { ...end, isError };
    else end = { text: messageText, isError, ...(typeof id === 'string' ? { id } : {}) };
  });
  return end;
}
