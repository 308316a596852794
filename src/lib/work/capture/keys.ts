import { join } from 'node:path';

import type { UserArea } from '../../config/user-area';
import { replaceFile } from '../../platform/files/atomic-file';
import { isObject } from '../../platform/files/json-object';
import { readObject } from '../../platform/files/object-file';
import { shortHash } from '../../platform/files/short-hash';

/** Keys of captured requests. The same words are captured only once per session. */
interface CapturedKeys {
  version: 1;
  /** Maps each request's key to the time of its prompt (ISO 8601 in UTC). The newest entries come last. */
  seen: Record<string, string>;
  /** Maps a request's key to the number of times its capture was undone. */
  undone: Record<string, number>;
}

export function capturedKeysPath({ state }: Pick<UserArea, 'state'>): string {
  return join(state, 'prompts-seen.json');
}

const MAX_KEYS = 2000;

/** Returns a request's key within a session. Ignores case and spacing. */
export function captureKey(session: string, kind: string, text: string): string {
  const words = `${session}\n${kind}\n${text.toLowerCase().replace(/\s+/g, ' ').trim()}`;
  return `${shortHash(words)}${shortHash(`/${words}`)}`;
}

/**
 * Returns the key for capturing a request again. The key changes after each undo, because the issue with the
 * old key stays closed.
 */
export function currentKey(path: string, key: string): string {
  const times = read(path).undone[key] ?? 0;
  return times === 0 ? key : `${key}-${times}`;
}

export function isCaptured(path: string, key: string): boolean {
  return Object.hasOwn(read(path).seen, key);
}

/** Records the key of a spooled capture. All captures from a prompt share the same time. */
export function recordKey(path: string, key: string, at: string): void {
  const { seen, undone } = read(path);
  const entries = [...Object.entries(seen).filter(([known]) => known !== key), [key, at]].slice(-MAX_KEYS);
  write(path, { version: 1, seen: Object.fromEntries(entries), undone });
}

/** Removes a key, so that the same words can be captured again. */
export function recordUndo(path: string, key: string): void {
  const { seen, undone } = read(path);
  const [, base = key, times = '0'] = /^(.+?)(?:-(\d+))?$/.exec(key) ?? [];
  const next = [...Object.entries(undone).filter(([known]) => known !== base), [base, Number(times) + 1]];
  write(path, {
    version: 1,
    seen: Object.fromEntries(Object.entries(seen).filter(([known]) => known !== key)),
    undone: Object.fromEntries(next.slice(-MAX_KEYS)),
  });
}

/** Groups the captured keys by the time of their prompt, newest first. */
export function capturedPrompts(path: string): { at: string; keys: string[] }[] {
  const byTime = new Map<string, string[]>();
  for (const [key, at] of Object.entries(read(path).seen)) byTime.set(at, [...(byTime.get(at) ?? []), key]);
  return [...byTime].map(([at, keys]) => ({ at, keys })).sort((a, b) => (a.at < b.at ? 1 : -1));
}

function write(path: string, keys: CapturedKeys): void {
  replaceFile(path, `${JSON.stringify(keys)}\n`);
}

function read(path: string): CapturedKeys {
  const stored = readObject(path);
  const seen = isObject(stored?.['seen']) ? (stored['seen'] as CapturedKeys['seen']) : {};
  const undone = isObject(stored?.['undone']) ? (stored['undone'] as CapturedKeys['undone']) : {};
  return { version: 1, seen, undone };
}
