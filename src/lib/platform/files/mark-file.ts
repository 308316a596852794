import { constants, closeSync, readSync, writeSync } from 'node:fs';

import { StewardError } from '../../errors';
import { openRegular } from './atomic-file';
import { parseObject } from './json-object';

/** A small file in which a long run stores its progress after each step, so that a crash loses nothing. */
export interface MarkFile<T> {
  read: () => T | undefined;
  write: (value: T) => void;
  close: () => void;
}

const BYTES = 512;

/**
 * Opens or creates a progress file. Each write replaces all 512 bytes in one system call, so readers never
 * see a partial value. A power failure may lose the latest value.
 */
export function openMark<T extends object>(path: string): MarkFile<T> {
  const fd = openRegular(path, constants.O_RDWR | constants.O_CREAT);
  if (fd === undefined) {
    throw new StewardError('not_found', `The folder for ${path} does not exist.`, {
      hint: 'Rerun the command.',
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
      if (length >= BYTES) throw new RangeError(`The stored progress is longer than ${BYTES - 1} bytes.`);
      bytes.write('\n', BYTES - 1);
      writeSync(fd, bytes, 0, BYTES, 0);
    },
    close: () => closeSync(fd),
  };
}
