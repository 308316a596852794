import { join } from 'node:path';

import { readText, replaceFile } from '../platform/files/atomic-file';
import { ensureFolder, exists, listFolder, removeFile } from '../platform/files/folder';
import { parseObject } from '../platform/files/json-object';
import { shortHash } from '../platform/files/short-hash';
import { stampOf } from '../platform/files/stat';
import { cleanLine } from '../platform/terminal/terminal';
import type { Session } from './session';

const KEEP_MS = 60 * 86_400_000;
const MAX_TITLE = 80;
const MAX_BYTES = 8192;
/** What is read of a prompt to find its first line. */
const MAX_PROMPT = 4000;

/** The folder of given names and titles. It is machine-local: what a person typed leaves this machine in no way. */
export function namesFolder(machineFolder: string): string {
  return join(machineFolder, 'session-names');
}

/** Adds the given name and the title to each session that has one. */
export function addNames(folder: string, sessions: Iterable<Session>): void {
  const files = new Set(listFolder(folder));
  if (files.size === 0) return;
  for (const session of sessions) {
    // The newest id last: a session that goes on under another id keeps its first title and its last name.
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

/** Names a session; an empty name removes the one it has. Returns the name as it is stored. */
export function giveName(folder: string, session: Session, text: string): string | null {
  const name = cleanLine(text, MAX_TITLE);
  for (const id of session.sessionIds) removeFile(join(folder, `${fileOf(id)}.name`));
  const id = session.sessionIds.at(-1);
  if (name === '' || id === undefined) return null;
  ensureFolder(folder);
  replaceFile(join(folder, `${fileOf(id)}.name`), JSON.stringify({ id, text: name }));
  return name;
}

/**
 * Keeps the first line of a session's first prompt; later prompts change nothing. `scrub` takes out credentials, of the
 * prompt rather than the line, since some of them span lines.
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

/** Removes the names of sessions that nobody has named or prompted for two months. */
export function pruneNames(folder: string, nowMs: number): void {
  for (const path of nameFiles(folder)) {
    if (nowMs - (stampOf(path)?.mtimeMs ?? nowMs) > KEEP_MS) removeFile(path);
  }
}

/** Every file of the folder, absolute. */
export function nameFiles(folder: string): string[] {
  return listFolder(folder).map((name) => join(folder, name));
}

function fileOf(id: string): string {
  return shortHash(id);
}

function textIn(folder: string, file: string, id: string): string | undefined {
  const value = parseObject(readText(join(folder, file), { maxBytes: MAX_BYTES }) ?? '');
  const text = value?.['text'];
  // Two ids may have one hash.
  return value?.['id'] === id && typeof text === 'string' ? cleanLine(text, MAX_TITLE) : undefined;
}
