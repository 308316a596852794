import { readSync } from 'node:fs';

import { inFile } from './atomic-file';

/** Returns where a text begins in a part of the bytes, or -1. */
export type ByteSearch = (bytes: Buffer, from: number, end: number) => number;

const CHUNK = 1024 * 1024;
const LF = 10;

/**
 * Returns a search for texts that have at each place a byte of one of the forms, as a word has in either case. Longer
 * forms are cut. Looks at few bytes (Horspool's algorithm), and makes no strings.
 */
export function byteSearch(forms: readonly string[]): ByteSearch {
  const all = forms.map((form) => Buffer.from(form));
  const length = Math.min(...all.map((bytes) => bytes.length));
  const wanted = Array.from({ length }, (_, place) => new Set(all.map((bytes) => bytes[place])));
  // How far to move if a byte is the last one looked at. Later places overwrite earlier ones.
  const moves = new Uint32Array(256).fill(length);
  wanted.forEach((bytes, place) => bytes.forEach((byte = 0) => (moves[byte] = length - 1 - place)));
  return (bytes, from, end) => {
    for (let start = from; start + length <= end;) {
      const move = moves[bytes[start + length - 1] as number] as number;
      if (move === 0 && wanted.every((some, place) => some.has(bytes[start + place]))) return start;
      start += Math.max(1, move);
    }
    return -1;
  };
}

/**
 * Returns a function that calls `onLine` with the first line of a file and each line that all searches find. Skips
 * lines of `maxBytes` and more. Returns undefined if the file doesn't exist.
 */
export function lineSearch(searches: readonly ByteSearch[], maxBytes: number) {
  const buffer = Buffer.allocUnsafe(maxBytes);
  return (path: string, onLine: (text: string) => void): boolean | undefined =>
    inFile(path, (fd) => {
      let [kept, isHead, isCut] = [0, true, false];
      for (let got = -1; got !== 0;) {
        got = readSync(fd, buffer, kept, Math.min(CHUNK, buffer.length - kept), null);
        const size = kept + got;
        const end = got === 0 ? size : buffer.subarray(0, size).lastIndexOf(LF) + 1;
        const lines = buffer.subarray(isCut ? buffer.indexOf(LF) + 1 : 0, end);
        if (end > 0) linesWith(searches, lines, isHead, onLine);
        isCut = end === 0 && (isCut || size === buffer.length);
        isHead = isHead && end === 0 && !isCut;
        kept = isCut ? 0 : size - end;
        buffer.copyWithin(0, end, size);
      }
      return true;
    });
}

function linesWith(
  [first, ...others]: readonly ByteSearch[],
  lines: Buffer,
  isHead: boolean,
  onLine: (text: string) => void,
): void {
  const next = (from: number): number => first?.(lines, from, lines.length) ?? -1;
  for (let at = isHead ? 0 : next(0); at !== -1;) {
    const start = at === 0 ? 0 : lines.lastIndexOf(LF, at) + 1;
    const feed = lines.indexOf(LF, at);
    const stop = feed === -1 ? lines.length : feed;
    const isWanted = (isHead && start === 0) || others.every((search) => search(lines, start, stop) !== -1);
    if (isWanted) onLine(lines.toString('utf8', start, stop));
    at = next(stop);
  }
}
