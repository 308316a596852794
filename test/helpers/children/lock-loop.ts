import { readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';

import { systemClock } from '../../../src/lib/platform/clock';
import { withLock } from '../../../src/lib/platform/lock';

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

function enter(mark: string): void {
  try {
    writeFileSync(mark, String(process.pid), { flag: 'wx' });
  } catch {
    writeSync(1, `met ${readFileSync(mark, 'utf8')}\n`);
    writeFileSync(mark, String(process.pid));
  }
  writeSync(1, 'in\n');
}

void main(process.argv[2] ?? '', Number(process.argv[3]));
