import { StewardError } from '../errors';
import type { Context } from './context';
import { askDaemon } from './daemon-client';

/** How long a daemon may take to close down: its requests and jobs have five seconds each, at once. */
const STOP_MS = 15_000;
const STOP_LOOK_MS = 50;

/** `steward daemon stop`: asks it to stop and waits until it has. False: none was running. */
export async function stopDaemon(context: Context): Promise<{ stopped: boolean; pid: number | null }> {
  const asked = await askDaemon<{ pid: number }>(context, { method: 'POST', path: '/api/stop' });
  if (asked === undefined) return { stopped: false, pid: null };
  const { clock } = context;
  const deadline = clock.monotonic() + STOP_MS;
  while (clock.monotonic() < deadline) {
    if ((await stillThere(context, asked.pid)) === false) return { stopped: true, pid: asked.pid };
    await new Promise((resolve) => setTimeout(resolve, STOP_LOOK_MS));
  }
  throw new StewardError(
    'unavailable',
    `The daemon (process ${asked.pid}) was asked to stop and is still there.`,
    {
      hint: 'See what it does with "steward daemon logs"; end its process if it hangs.',
    },
  );
}

/** The file of the instance is the last thing that a daemon takes away. */
async function stillThere(context: Context, pid: number): Promise<boolean> {
  const { readInstance } = await import('../daemon/instance');
  return readInstance(context.area)?.pid === pid;
}
