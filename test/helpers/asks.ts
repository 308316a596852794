import type { Context } from '../../src/lib/app/context';
import { openAsk, type Ask } from '../../src/lib/inbox/asks';

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
