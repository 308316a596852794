import { join } from 'node:path';

import type { UserArea } from '../../config/user-area';
import { readText, replaceFile } from '../../platform/files/atomic-file';
import { isObject, parseObject } from '../../platform/files/json-object';
import { shortHash } from '../../platform/files/short-hash';

/** What was captured of which session, as hashes: the same words in the same session are one capture. */
interface Seen {
  version: 1;
  /** Key → when, ISO-8601 UTC; the newest last. */
  seen: Record<string, string>;
  /** Key → how often it was taken back. */
  undone: Record<string, number>;
}

export function promptsSeen({ state }: Pick<UserArea, 'state'>): string {
  return join(state, 'prompts-seen.json');
}

const MAX_SEEN = 2000;
const MAX_BYTES = 1024 * 1024;

/** Tells what was asked for in a session, the same for the same words whatever their case and spaces. */
export function captureKey(session: string, kind: string, text: string): string {
  const said = `${session}\n${kind}\n${text.toLowerCase().replace(/\s+/g, ' ').trim()}`;
  return `${shortHash(said)}${shortHash(`/${said}`)}`;
}

/**
 * The key under which words are captured now: of those that were taken back another one than before, since the issue
 * of the old key is closed and stays so.
 */
export function currentKey(path: string, key: string): string {
  const times = readSeen(path).undone[key] ?? 0;
  return times === 0 ? key : `${key}-${times}`;
}

export function isSeen(path: string, key: string): boolean {
  return Object.hasOwn(readSeen(path).seen, key);
}

/**
 * Notes it, after it was left to be done: a kill in between captures the same key again, which is the same issue.
 *
 * @param at when its prompt was said: captures of one prompt bear the same time
 */
export function noteSeen(path: string, key: string, at: string): void {
  const { seen, undone } = readSeen(path);
  const entries = [...Object.entries(seen).filter(([known]) => known !== key), [key, at]].slice(-MAX_SEEN);
  write(path, { version: 1, seen: Object.fromEntries(entries), undone });
}

/** Forgets that it was captured: the same words are captured again when they are said again. */
export function noteUndone(path: string, key: string): void {
  const { seen, undone } = readSeen(path);
  const [, base = key, times = '0'] = /^(.+?)(?:-(\d+))?$/.exec(key) ?? [];
  const next = [...Object.entries(undone).filter(([known]) => known !== base), [base, Number(times) + 1]];
  write(path, {
    version: 1,
    seen: Object.fromEntries(Object.entries(seen).filter(([known]) => known !== key)),
    undone: Object.fromEntries(next.slice(-MAX_SEEN)),
  });
}

/** What the last prompt that was captured asked for, the newest prompt first: keys, by the time of the prompt. */
export function lastSeen(path: string): { at: string; keys: string[] }[] {
  const byTime = new Map<string, string[]>();
  for (const [key, at] of Object.entries(readSeen(path).seen))
    byTime.set(at, [...(byTime.get(at) ?? []), key]);
  return [...byTime].map(([at, keys]) => ({ at, keys })).sort((a, b) => (a.at < b.at ? 1 : -1));
}

function write(path: string, seen: Seen): void {
  replaceFile(path, `${JSON.stringify(seen)}\n`);
}

function readSeen(path: string): Seen {
  const stored = parseObject(readText(path, { maxBytes: MAX_BYTES }) ?? '');
  const seen = isObject(stored?.['seen']) ? (stored['seen'] as Seen['seen']) : {};
  const undone = isObject(stored?.['undone']) ? (stored['undone'] as Seen['undone']) : {};
  return { version: 1, seen, undone };
}
