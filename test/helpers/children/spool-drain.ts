// spool-drain FOLDER: drains the spool again and again; the consumer notes the id of what it has done, once.
import { completeAppend, planAppend, readLines } from '../../../src/lib/platform/files/jsonl';
import { systemClock } from '../../../src/lib/platform/time/clock';
import { drain } from '../../../src/lib/sessions/spool';

const folder = process.argv[2] ?? '';
const ledger = `${folder}/ledger`;
const deps = {
  clock: systemClock(),
  machineId: '0123456789ab',
  area: { spool: `${folder}/spool`, machine: `${folder}/locks` },
};

async function main(): Promise<void> {
  for (;;) {
    await drain(deps, {
      'session-ended': ({ id }) => {
        const done = new Set<string | undefined>();
        readLines(ledger, {}, ({ text }) => done.add(text));
        if (!done.has(id)) completeAppend(ledger, planAppend(ledger, [id]));
        console.log(id);
      },
    });
    await new Promise((next) => setImmediate(next));
  }
}

void main();
