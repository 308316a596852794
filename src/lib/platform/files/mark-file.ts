import { constants, closeSync, readSync, writeSync } from 'node:fs';

import { StewardError } from '../../errors';
import { openRegular } from './atomic-file';
import { parseObject } from './json-object';

/** A small state that is written after each step of a long run, in place: it survives the process at any point. */
export interface MarkFile<T> {
  read: () => T | undefined;
  write: (value: T) => void;
  close: () => void;
}

const BYTES = 512;

/**
 * Opens a mark, and makes it where it is missing. A write is one call of the system over the same bytes, so that a
 * reader sees the old value or the new even when the writer is killed; it is not synced, and may be older after
 * a crash of the machine. The value as JSON has at most 511 bytes.
 */
export function openMark<T extends object>(path: string): MarkFile<T> {
  const fd = openRegular(path, constants.O_RDWR | constants.O_CREAT);
  if (fd === undefined) {
    throw new StewardError('not_found', `The folder of ${path} does not exist.`, {
      hint: 'Run the command again.',
    });
  }
  const bytes = Buffer.alloc(BYTES, ' ');
  return {
    read: () => {
      const got = readSync(fd, bytes, 0, BYTES, 0);
      return parseObject(bytes.toString('utf8', 0, got)) as T | undefined;
    },
    write: (value) => {
      bytes.fill(' ');
      const length = bytes.write(JSON.stringify(value), 'utf8');
      if (length >= BYTES) throw new RangeError('a mark is too long');
      bytes.write('\n', BYTES - 1);
      writeSync(fd, bytes, 0, BYTES, 0);
    },
    close: () => closeSync(fd),
  };
}
