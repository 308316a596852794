import { linkSync, readFileSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';

import { systemClock } from '../../../src/lib/platform/time/clock';
import { withLock } from '../../../src/lib/platform/files/lock';

/**
 * Takes the lock again and again and adds 1 to a number that only the lock protects. Says `in` each time,
 * and `met PID` when somebody else is, or was when it was killed, in the protected part.
 */
async function main(folder: string, count: number): Promise<void> {
  const options = { clock: systemClock(), machineId: '0123456789ab', waitMs: 60_000 };
  for (let n = 0; n < count; n += 1) {
    await withLock(`${folder}/locks/one`, options, async () => {
      enter(`${folder}/inside`);
      const number = Number(readFileSync(`${folder}/number`, 'utf8'));
      await new Promise(setImmediate);
      writeFileSync(`${folder}/number`, String(number + 1));
      rmSync(`${folder}/inside`);
    });
  }
}

/** The mark is made in one step, so that whoever meets it can read whose it is. */
function enter(mark: string): void {
  const own = `${mark}-${process.pid}`;
  writeFileSync(own, String(process.pid));
  try {
    linkSync(own, mark);
  } catch {
    writeSync(1, `met ${readFileSync(mark, 'utf8')}\n`);
    renameSync(own, mark);
  }
  rmSync(own, { force: true });
  writeSync(1, 'in\n');
}

void main(process.argv[2] ?? '', Number(process.argv[3]));
