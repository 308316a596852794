import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { userArea } from '../../../src/lib/config/user-area';
import { holdAsk } from '../../../src/lib/inbox/hold';
import { systemClock } from '../../../src/lib/platform/time/clock';

const [home = '', session = '', input = '', mostPolls = ''] = process.argv.slice(2);
const env = { STEWARD_HOME: join(home, 'area'), XDG_STATE_HOME: join(home, 'state') };
const { now } = systemClock();
let polls = 0;
// Each poll takes a second of this clock, so a busy machine doesn't make the hold shorter.
const clock = { now, monotonic: () => polls * 1000 };
const machine = { area: userArea({ platform: 'linux', env, home }), clock, machineId: '0123456789ab' };
const about = { session, slug: session, tool: 'Bash', input, questions: [], kind: 'permission' } as const;

/** A hook that holds a request while the session's file `here` doesn't exist. */
async function main(): Promise<void> {
  const isAway = (): Promise<boolean> => {
    polls += 1;
    process.stdout.write('poll\n');
    return Promise.resolve(!existsSync(join(home, `here-${session}`)));
  };
  const ask = { ...about, canAllow: true, canAllowSession: false };
  const isOffered = (): Promise<boolean> => Promise.resolve(true);
  const holdMs = Number(mostPolls) * 1000;
  const decision = await holdAsk(machine, ask, { isAway, isOffered, holdMs, pollMs: 25 });
  process.stdout.write(`${JSON.stringify({ result: decision?.behavior ?? 'none', polls })}\n`);
}

void main();
