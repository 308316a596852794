import { fstatSync } from 'node:fs';

import { writeStdout } from './stdio';

/** The file that stdout is, and its size now. */
export interface OutputFile {
  dev: number;
  ino: number;
  size: number;
}

/** Where a program shows what must be shown once. */
export interface ShownOutput {
  /** Undefined for what cannot be looked at again: a terminal, a pipe. */
  file: () => OutputFile | undefined;
  /** Resolves when the system has taken all of it. */
  write: (bytes: Uint8Array | string) => Promise<void>;
  /** The most bytes of a write; a pipe takes so much as a whole or not at all. */
  chunkBytes: number;
}

/** What Linux and most others call PIPE_BUF. */
const PIPE_BYTES = 4096;
const FILE_BYTES = 64 * 1024;

export function standardOutput(): ShownOutput {
  const file = (): OutputFile | undefined => {
    const facts = fstatSync(1);
    return facts.isFile() ? { dev: facts.dev, ino: facts.ino, size: facts.size } : undefined;
  };
  return {
    file,
    chunkBytes: file() === undefined ? PIPE_BYTES : FILE_BYTES,
    write: (bytes) =>
      new Promise((resolve, reject) => {
        if (file() !== undefined) {
          writeStdout(bytes);
          resolve();
          return;
        }
        process.stdout.write(bytes, (error) => {
          if (error === undefined || error === null) resolve();
          else reject(error);
        });
      }),
  };
}
