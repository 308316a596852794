import type { Context } from '../../src/lib/app/context';
import { userArea } from '../../src/lib/config/user-area';
import { openAsk, type Ask } from '../../src/lib/inbox/asks';
import { systemClock } from '../../src/lib/platform/time/clock';
import { cleanEnv } from './cli';

/** Opens a request to run make, which waits for ten minutes. */
export function askToMake(
  context: Context,
  nowMs: number,
  more: Partial<Parameters<typeof openAsk>[1]> = {},
): Promise<Ask> {
  return openAsk(context, {
    kind: 'permission',
    session: 's1',
    slug: 'shop',
    tool: 'Bash',
    input: '{"command":"make"}',
    canAllow: true,
    isHeld: true,
    untilMs: nowMs + 600_000,
    ...more,
  });
}

/** Opens a question of an agent in a home folder of the built program, and returns its id. */
export async function askIn(home: string, text: string, options: readonly string[]): Promise<string> {
  const area = userArea({ platform: process.platform, env: cleanEnv(home), home });
  const clock = systemClock();
  const { id } = await openAsk(
    { area, clock, machineId: '0123456789ab' },
    {
      kind: 'ask',
      tool: 'ask_me',
      input: text,
      questions: [{ text, options }],
      canAllow: true,
      isHeld: false,
      untilMs: clock.now() + 600_000,
    },
  );
  return id;
}
