import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { userArea } from '../../../src/lib/config/user-area';
import { throwIfBug } from '../../../src/lib/errors';
import type { AskDecision } from '../../../src/lib/inbox/asks';
import { holdAsk } from '../../../src/lib/inbox/hold';
import { systemClock } from '../../../src/lib/platform/time/clock';

const [home = '', session = '', input = ''] = process.argv.slice(2);
const env = { STEWARD_HOME: join(home, 'area'), XDG_STATE_HOME: join(home, 'state') };
const machine = {
  area: userArea({ platform: 'linux', env, home }),
  clock: systemClock(),
  machineId: '0123456789ab',
};
const about = { session, slug: session, tool: 'Bash', input, questions: [], kind: 'permission' } as const;
let polls = 0;

/** A hook that holds a request while the file `here` doesn't exist. */
async function main(): Promise<void> {
  const isAway = (): Promise<boolean> => {
    polls += 1;
    process.stdout.write('poll\n');
    return Promise.resolve(!existsSync(join(home, 'here')));
  };
  const ask = { ...about, canAllow: true, canAllowSession: false };
  let decision: AskDecision | undefined;
  try {
    decision = await holdAsk(machine, ask, { isAway, holdMs: 300, pollMs: 5 });
  } catch (error) {
    // On a busy machine, a lock may be held for too long: the hook then prints nothing.
    throwIfBug(error);
  }
  process.stdout.write(`${JSON.stringify({ result: decision?.behavior ?? 'none', polls })}\n`);
}

void main();
