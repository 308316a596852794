import { join } from 'node:path';

import { replaceFile } from '../platform/files/atomic-file';
import { refreshCached, type Cached } from '../platform/files/file-cache';
import { ensureFolder, listFolder, removeFile } from '../platform/files/folder';
import { parseObject } from '../platform/files/json-object';
import { completeAppend, planAppend, readLines } from '../platform/files/jsonl';
import { toIso, type Clock } from '../platform/time/clock';
import { parseSession, type Session } from './session';

/**
 * Matches the monthly archive files. Each session is in the file for the month of its last event. If the file
 * has several lines for the session, the last one applies.
 */
const MONTH = /^\d{4}-\d{2}\.jsonl$/;
const MAX_LINE_BYTES = 1024 * 1024;

export function archivedFiles(folder: string): string[] {
  return listFolder(folder)
    .filter((name) => MONTH.test(name))
    .sort()
    .map((name) => join(folder, name));
}

export function archivedSessions(folder: string): Record<string, Session> {
  return bySlug(archivedFiles(folder).flatMap((path) => sessionsIn(path)));
}

/** Returns a version of `archivedSessions` that caches the result until a file changes. */
export function archiveReader(clock: Pick<Clock, 'now'>): typeof archivedSessions {
  let last: Cached<Session[]> | undefined;
  return (folder) => {
    const files = archivedFiles(folder);
    last = refreshCached(clock, last, [folder, ...files], () => Object.values(archivedSessions(folder)));
    return bySlug(last.value.map(copyOf));
  };
}

/** Returns a deep copy of a session, because callers modify the sessions. */
function copyOf(session: Session): Session {
  const { sessionIds, agents, phaseHistory } = session;
  return {
    ...session,
    sessionIds: [...sessionIds],
    agents: [...agents],
    phaseHistory: phaseHistory.map((entry) => ({ ...entry })),
  };
}

/** Returns the archived sessions with one of these slugs or session ids. */
export function recall(folder: string, names: readonly string[]): Record<string, Session> {
  const words = names.map((name) => JSON.stringify(name));
  // Hooks call this function, so it parses as few lines as possible.
  const mayMatch = (line: string): boolean => words.some((word) => line.includes(word));
  const found = archivedFiles(folder).flatMap((path) => sessionsIn(path, mayMatch));
  return bySlug(
    found.filter(({ slug, sessionIds }) => names.some((name) => name === slug || sessionIds.includes(name))),
  );
}

/** Appends sessions to the archive and flushes them to disk. */
export function archiveSessions(folder: string, sessions: readonly Session[]): void {
  ensureFolder(folder);
  const months = new Map<string, string[]>();
  for (const session of sessions) {
    const path = join(folder, `${toIso(Date.parse(session.updatedAt)).slice(0, 7)}.jsonl`);
    months.set(path, [...(months.get(path) ?? []), JSON.stringify(session)]);
  }
  for (const [path, lines] of months) completeAppend(path, planAppend(path, lines));
}

/** Removes superseded lines, sessions for which `isOver` is true, and the oldest sessions beyond `max`. */
export function pruneArchive(folder: string, isOver: (session: Session) => boolean, max: number): void {
  const files = archivedFiles(folder).map((path) => ({ path, sessions: sessionsIn(path) }));
  const remaining = Object.values(bySlug(files.flatMap(({ sessions }) => sessions)))
    .filter((session) => !isOver(session))
    .sort((a, b) => Date.parse(a.updatedAt) - Date.parse(b.updatedAt));
  const retained = new Set(remaining.slice(-max));
  for (const { path, sessions } of files) {
    const lines = sessions.filter((session) => retained.has(session));
    if (lines.length === sessions.length) continue;
    if (lines.length === 0) removeFile(path);
    else replaceFile(path, lines.map((session) => `${JSON.stringify(session)}\n`).join(''));
  }
}

function bySlug(sessions: readonly Session[]): Record<string, Session> {
  return Object.fromEntries(sessions.map((session) => [session.slug, session]));
}

function sessionsIn(path: string, matches: (line: string) => boolean = () => true): Session[] {
  const sessions: Session[] = [];
  readLines(path, { maxLineBytes: MAX_LINE_BYTES }, ({ text }) => {
    const value = text === undefined || !matches(text) ? undefined : parseObject(text);
    const session = value === undefined ? undefined : parseSession(value['slug'], value);
    if (session !== undefined) sessions.push(session);
  });
  return sessions;
}
