import type { Instance } from '../daemon/instance';
import type { OpenLink } from '../daemon/own-routes';
import type { DaemonStatus } from '../daemon/status';
import type { DaemonReport } from '../daemon/view';
import { StewardError } from '../errors';
import { relaunch } from '../platform/relaunch';
import type { Context } from './context';
import { askDaemon, findDaemon } from './daemon-client';
import { keepSocket } from './daemon-socket';
import type { DaemonFlags } from './daemon-context';
import { VERSION } from './version';

/** How long a daemon may take to close down: its requests and jobs have five seconds each, at once. */
const STOP_MS = 15_000;
const STOP_LOOK_MS = 50;

/**
 * `steward daemon serve`, and the end of `steward up`: runs the daemon in this process until it is asked to stop,
 * and once more whenever another version was installed. Returns the exit code.
 */
export async function serveDaemon(
  context: Context,
  flags: DaemonFlags,
  tell: { say: (text: string) => void; onListening: (instance: Instance) => void },
): Promise<number> {
  const { openDaemon } = await import('./daemon-context');
  const { runDaemon } = await import('../daemon/daemon');
  const { parts, warnings } = await openDaemon(context, flags, tell.say);
  for (const warning of warnings) tell.say(warning);
  let port = parts.port;
  const ending = await runDaemon(parts, (instance) => {
    port = instance.port;
    keepSocket(context.area, instance.socket);
    tell.onListening(instance);
  });
  if (ending === 'stopped') return 0;
  return relaunch(['daemon', 'serve', '--host', parts.host, '--port', String(port)]);
}

/** `steward daemon status` */
export async function daemonReport(context: Context): Promise<DaemonReport> {
  const found = await findDaemon(context);
  const status = found && (await askDaemon<DaemonStatus>(context, { method: 'GET', path: '/api/status' }));
  if (found === undefined || status === undefined) return { running: false, cliVersion: VERSION };
  return { running: true, url: found.instance.url, cliVersion: VERSION, ...status };
}

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

/** `steward open`: the address of the pages, with a one-time code where a token is required. No daemon is `unavailable`. */
export async function openLink(context: Context): Promise<OpenLink> {
  const link = await askDaemon<OpenLink>(context, { method: 'POST', path: '/api/open' });
  if (link !== undefined) return link;
  throw new StewardError('unavailable', 'The daemon does not run.', {
    hint: 'Start it with "steward up", or "steward daemon serve".',
  });
}
