import { join } from 'node:path';

import { replaceFile } from '../platform/files/atomic-file';
import { ensureFolder, exists, listFolder, removeFile } from '../platform/files/folder';
import { textOf } from '../platform/files/json-object';
import { readObject } from '../platform/files/object-file';
import { shortHash } from '../platform/files/short-hash';
import { stampOf } from '../platform/files/stat';
import { cleanLine } from '../platform/terminal/terminal';
import type { Session } from './session';
import { sessionKey } from './session-key';

const KEEP_MS = 60 * 86_400_000;
const MAX_TITLE = 80;
const MAX_PROMPT = 4000;

/**
 * Returns the machine-local folder for session names and titles. They contain text that you typed, which must
 * not leave this machine.
 */
export function namesFolder(machineFolder: string): string {
  return join(machineFolder, 'session-names');
}

export function addNames(folder: string, sessions: Iterable<Session>): void {
  const files = new Set(listFolder(folder));
  if (files.size === 0) return;
  for (const session of sessions) {
    // Go through the ids from oldest to newest. A resumed session then keeps its first title and gets its
    // latest name.
    for (const id of session.sessionIds) {
      const [name, title] = [`${fileOf(id)}.name`, `${fileOf(id)}.title`].map((file) =>
        files.has(file) ? textIn(folder, file, id) : undefined,
      );
      if (name !== undefined) session.givenName = name;
      session.title ??= title as string;
      if (session.title === undefined) delete session.title;
    }
  }
}

/** Names a session and returns the stored name. Empty text removes the name. */
export function giveName(folder: string, session: Pick<Session, 'sessionIds' | 'assistant'>, text: string) {
  const name = cleanLine(text, MAX_TITLE);
  for (const id of session.sessionIds) removeFile(join(folder, `${fileOf(id)}.name`));
  const id = session.sessionIds.at(-1);
  if (name === '' || id === undefined) return null;
  ensureFolder(folder);
  const { assistant } = session;
  replaceFile(join(folder, `${fileOf(id)}.name`), JSON.stringify({ id, text: name, assistant }));
  return name;
}

/** Returns the given names by session key. The key of another machine's session is a hash. */
export function givenNames(folder: string): Map<string, string> {
  const names = listFolder(folder).flatMap((file): [string, string][] => {
    if (!file.endsWith('.name')) return [];
    const { id, assistant, text } = readObject(join(folder, file)) ?? {};
    const name = cleanLine(textOf(text) ?? '', MAX_TITLE);
    return typeof id === 'string' && name !== '' ? [[sessionKey(textOf(assistant), id), name]] : [];
  });
  return new Map(names);
}

/**
 * Stores the first line of a session's first prompt. Passes the entire prompt to `scrub`, because a
 * credential can span several lines.
 */
export function keepTitle(folder: string, id: string, prompt: string, scrub: (text: string) => string): void {
  const file = `${fileOf(id)}.title`;
  if (exists(join(folder, file))) return;
  const lines = scrub(prompt.slice(0, MAX_PROMPT)).split(/\r\n|\r|\n/);
  const text = cleanLine(lines.find((line) => line.trim() !== '') ?? '', MAX_TITLE);
  if (text === '') return;
  ensureFolder(folder);
  replaceFile(join(folder, file), JSON.stringify({ id, text }), { sync: false });
}

/** Removes a session's name and title. */
export function removeNames(folder: string, id: string): void {
  for (const kind of ['name', 'title']) removeFile(join(folder, `${fileOf(id)}.${kind}`));
}

/** Removes names and titles that are more than 60 days old. */
export function pruneNames(folder: string, nowMs: number): void {
  for (const name of listFolder(folder)) {
    const path = join(folder, name);
    if (nowMs - (stampOf(path)?.mtimeMs ?? nowMs) > KEEP_MS) removeFile(path);
  }
}

function fileOf(id: string): string {
  return shortHash(id);
}

function textIn(folder: string, file: string, id: string): string | undefined {
  const value = readObject(join(folder, file));
  const text = value?.['text'];
  // File names are hashes of ids, and two ids may have the same hash, so compare the ids.
  return value?.['id'] === id && typeof text === 'string' ? cleanLine(text, MAX_TITLE) : undefined;
}
