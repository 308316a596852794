import { closeSync, constants, fsyncSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { openRegular } from './atomic-file';
import { originalOf } from './conflict-copies';
import { ensureFolder, listFolder, removeFile } from './folder';
import { completeAppend, planAppend, readLines, type Line, type ReadEnd, type ReadOptions } from './jsonl';

/** Returns the conflict copies of a log, sorted by name. */
export function copiesOf(path: string): string[] {
  return copiesIn(dirname(path), (original) => original === basename(path)).map(({ copy }) => copy);
}

/** Returns the conflict copies of all logs in a folder. */
export function copiesIn(
  folder: string,
  isMeant: (original: string) => boolean = () => true,
): { log: string; copy: string }[] {
  const names = listFolder(folder).filter((name) => name.includes('.jsonl') || name.includes('onflict'));
  const known = new Set(names);
  return names.sort().flatMap((name) => {
    const original = originalOf(name, (other) => known.has(other));
    const isLog = original?.endsWith('.jsonl') === true && isMeant(original);
    return isLog ? [{ log: join(folder, original), copy: join(folder, name) }] : [];
  });
}

/**
 * Like `readLines`, but afterward also reports the lines that are found only in conflict copies, without
 * duplicates.
 */
export function readLinesOnce(
  path: string,
  options: ReadOptions,
  onLine: (line: Line) => void,
): ReadEnd | undefined {
  const copies = copiesOf(path);
  if (copies.length === 0) return readLines(path, options, onLine);
  const known = new Set<string>();
  const end = readLines(path, options, (line) => {
    known.add(line.text ?? '');
    onLine(line);
  });
  for (const text of missingFrom(known, copies)) onLine({ offset: 0, bytes: Buffer.byteLength(text), text });
  return end ?? { size: 0, end: 0, torn: 0 };
}

function missingFrom(known: Set<string>, copies: readonly string[]): string[] {
  const missing: string[] = [];
  for (const copy of copies)
    readLines(copy, { tail: true }, ({ text }) => {
      if (text === undefined || !text.startsWith('{') || known.has(text)) return;
      known.add(text);
      missing.push(text);
    });
  return missing;
}

/**
 * Appends the lines found only in conflict copies to `into` (default: the log) and removes the copies.
 * Returns the number of lines added. Durable and safe to repeat.
 */
export function settleCopies(path: string, into = path): number {
  const copies = copiesOf(path);
  return copies.length === 0 ? 0 : settleAll(copies, [path, into], into);
}

/**
 * Moves the lines of a log to the end of another log, without duplicates. Returns the number of lines added.
 */
export function settleFrom(path: string, into: string): number {
  ensureFolder(dirname(into));
  return settleAll([path], [into], into);
}

function settleAll(copies: readonly string[], logs: readonly string[], into: string): number {
  const known = new Set<string>();
  for (const log of new Set(logs)) readLines(log, { tail: true }, ({ text }) => void known.add(text ?? ''));
  const missing = missingFrom(known, copies);
  if (missing.length > 0) completeAppend(into, planAppend(into, missing));
  for (const copy of copies) removeFile(copy);
  return missing.length;
}

const MARKER = /^(?:<{7} |\|{7} |={7}$|>{7} )/;

/**
 * Overwrites git's conflict markers, and the duplicate lines between them, with line feeds, so that byte
 * offsets don't change. Returns the number of markers.
 */
export function blankMarkers(path: string): number {
  const known = new Set<string>();
  const blank: Line[] = [];
  let markers = 0;
  readLines(path, { tail: true }, (line) => {
    const { text = '' } = line;
    const isMarker = MARKER.test(text);
    if (isMarker) markers += 1;
    if (isMarker || (markers > 0 && text !== '' && known.has(text))) blank.push(line);
    known.add(text);
  });
  if (markers === 0) return 0;
  const fd = openRegular(path, constants.O_RDWR);
  if (fd === undefined) return 0;
  try {
    for (const { offset, bytes } of blank) writeSync(fd, Buffer.alloc(bytes, '\n'), 0, bytes, offset);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  return markers;
}
