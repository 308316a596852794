import type { Instance } from '../daemon/instance';
import type { OpenLink } from '../daemon/routes';
import type { DaemonStatus, DaemonReport } from '../daemon/status';
import { StewardError } from '../errors';
import { relaunch } from '../platform/process/own-process';
import type { Context } from './context';
import { askDaemon, findDaemon } from './daemon-client';
import { keepSocket } from './daemon-socket';
import type { DaemonFlags } from './daemon';
import { VERSION } from './version';

/** Runs the daemon in this process until it is asked to stop, and relaunches it when it is to restart. Returns the exit code. */
export async function serveDaemon(
  context: Context,
  flags: DaemonFlags,
  tell: { say: (text: string) => void; isJson: boolean; onListening: (instance: Instance) => void },
): Promise<number> {
  const { openDaemon } = await import('./daemon');
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
  return relaunch([...relaunchArgs(flags, parts.port, port), ...(tell.isJson ? ['--json'] : [])]);
}

/** The typed flags still apply after a restart; a random port is kept, since pages may be open at it. */
function relaunchArgs(flags: DaemonFlags, configured: number, port: number): string[] {
  const isFixed = flags.port !== undefined || configured === 0;
  return [
    'daemon',
    'serve',
    ...(flags.host === undefined ? [] : ['--host', flags.host]),
    ...(isFixed ? ['--port', String(port)] : []),
    ...(flags.sweep === true ? ['--sweep'] : []),
  ];
}

/** `steward daemon status` */
export async function daemonReport(context: Context): Promise<DaemonReport> {
  const found = await findDaemon(context);
  const status = found && (await askDaemon<DaemonStatus>(context, { method: 'GET', path: '/api/status' }));
  if (found === undefined || status === undefined) return { running: false, cliVersion: VERSION };
  return { running: true, url: found.instance.url, cliVersion: VERSION, ...status };
}

/** Returns the address of the pages, with a one-time code if a token is required. Without a daemon it is `unavailable`. */
export async function openLink(context: Context): Promise<OpenLink> {
  const link = await askDaemon<OpenLink>(context, { method: 'POST', path: '/api/open' });
  if (link !== undefined) return link;
  throw new StewardError('unavailable', 'The daemon is not running.', {
    hint: 'Start it with "steward up" or "steward daemon serve".',
  });
}
