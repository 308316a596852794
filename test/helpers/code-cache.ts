import {
  existsSync,
  lstatSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The compiled code that one run of the tests has made: a start without it takes twice as long. */
const kept = (): string => join(tmpdir(), 'steward-code');
const codeOf = (home: string): string => join(home, '.cache', 'steward', 'code');

/** Gives a home the code that was compiled in earlier homes. */
export function lendCode(home: string): void {
  copyNew(kept(), codeOf(home));
}

/** Keeps the code that was compiled in this home for later ones. */
export function keepCode(home: string): void {
  copyNew(codeOf(home), kept());
}

/** Links the files of each folder that the other one lacks; what was made or changed as another user stays. */
function copyNew(from: string, to: string): void {
  // A test may have left a link to somewhere else.
  if (lstatSync(from, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  for (const name of readdirSync(from)) {
    if (existsSync(join(to, name)) || statSync(join(from, name)).uid !== process.getuid?.()) continue;
    const files = readdirSync(join(from, name)).filter((file) => file.endsWith('.bin'));
    if (files.length === 0) continue;
    // Beside the folder that others list meanwhile.
    const temp = `${to}.${process.pid}`;
    mkdirSync(temp, { recursive: true, mode: 0o700 });
    for (const file of files) linkSync(join(from, name, file), join(temp, file));
    mkdirSync(to, { recursive: true, mode: 0o700 });
    try {
      renameSync(temp, join(to, name));
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
      // Another test was first.
      rmSync(temp, { recursive: true });
    }
  }
}
