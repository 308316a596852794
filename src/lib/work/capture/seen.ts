import { readText, replaceFile } from '../../platform/atomic-file';
import { isObject, parseObject } from '../../platform/json-object';
import { shortHash } from '../../platform/short-hash';

/**
 * What was captured of which session (decisions.md 1: state/prompts-seen.json), as hashes: the same words in the same
 * session are one capture.
 */
interface Seen {
  version: 1;
  /** Key → when, ISO-8601 UTC; the newest last. */
  seen: Record<string, string>;
}

const MAX_SEEN = 2000;
const MAX_BYTES = 1024 * 1024;

/** Tells what was asked for in a session, the same for the same words whatever their case and spaces. */
export function captureKey(session: string, kind: string, text: string): string {
  const said = `${session}\n${kind}\n${text.toLowerCase().replace(/\s+/g, ' ').trim()}`;
  return `${shortHash(said)}${shortHash(`/${said}`)}`;
}

export function isSeen(path: string, key: string): boolean {
  return Object.hasOwn(readSeen(path).seen, key);
}

/** Notes it, after it was left to be done: a kill in between captures the same key again, which is the same issue. */
export function noteSeen(path: string, key: string, at: string): void {
  const { seen } = readSeen(path);
  const entries = [...Object.entries(seen).filter(([known]) => known !== key), [key, at]].slice(-MAX_SEEN);
  replaceFile(path, `${JSON.stringify({ version: 1, seen: Object.fromEntries(entries) })}\n`);
}

function readSeen(path: string): Seen {
  const stored = parseObject(readText(path, { maxBytes: MAX_BYTES }) ?? '');
  const seen = isObject(stored?.['seen']) ? (stored['seen'] as Record<string, string>) : {};
  return { version: 1, seen };
}
