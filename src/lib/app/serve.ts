import { type Instance, readInstance } from '../daemon/instance';
import type { OpenLink } from '../daemon/routes';
import type { DaemonReport, DaemonStatus } from '../daemon/status';
import { StewardError } from '../errors';
import { relaunch } from '../platform/process/own-process';
import { wait } from '../platform/time/wait';
import type { SchedulerKind } from '../schedule/job';
import type { Context } from './context';
import type { DaemonFlags } from './daemon';
import { askDaemon, findDaemon, isDaemonThere, stopDaemon } from '../daemon/client';
import { cacheSocket } from '../daemon/socket';
import { VERSION } from '../platform/version';

/**
 * Runs the daemon in this process. When the daemon exits, relaunches it unless it was stopped. Returns the
 * exit code.
 */
export async function serveDaemon(
  context: Context,
  flags: DaemonFlags,
  output: { say: (text: string) => void; isJson: boolean; onListening: (instance: Instance) => void },
): Promise<number> {
  const { openDaemon } = await import('./daemon');
  const { runDaemon } = await import('../daemon/daemon');
  const { parts, warnings } = await openDaemon(context, flags, output.say);
  for (const warning of warnings) output.say(warning);
  let port = parts.port;
  const ending = await runDaemon(parts, (instance) => {
    port = instance.port;
    cacheSocket(context.area, instance.socket);
    output.onListening(instance);
  });
  if (ending === 'stopped') return 0;
  // A restarted daemon keeps its randomly chosen port, because open pages use this port.
  const isPortFixed = flags.port !== undefined || parts.port === 0;
  return relaunch([
    'daemon',
    'serve',
    ...(flags.host === undefined ? [] : ['--host', flags.host]),
    ...(isPortFixed ? ['--port', String(port)] : []),
    ...(flags.sweep === true ? ['--sweep'] : []),
    ...(output.isJson ? ['--json'] : []),
  ]);
}

export async function daemonReport(context: Context): Promise<DaemonReport> {
  const found = await findDaemon(context);
  const status = found && (await askDaemon<DaemonStatus>(context, { method: 'GET', path: '/api/status' }));
  if (found === undefined || status === undefined) return { running: false, cliVersion: VERSION };
  return { running: true, url: found.instance.url, cliVersion: VERSION, ...status };
}

export const PAGE_PATHS = {
  today: '/',
  sense: '/sense',
  work: '/work',
  sessions: '/sessions',
  status: '/status',
} as const;

/** Returns a page's URL with a one-time sign-in code. Throws `unavailable` if the daemon isn't running. */
export async function openLink(context: Context, page: keyof typeof PAGE_PATHS): Promise<OpenLink> {
  const link = await askDaemon<OpenLink>(context, { method: 'POST', path: '/api/open' });
  if (link !== undefined) {
    const url = new URL(link.url);
    url.pathname = PAGE_PATHS[page];
    return { ...link, url: url.href };
  }
  throw new StewardError('unavailable', 'The daemon is not running.', {
    hint: 'Start the daemon with "steward up" or "steward daemon serve".',
  });
}

export interface Restarted {
  url: string;
  /** Process id of the restarted daemon. */
  pid: number;
  /** Process id of the previous daemon, or null. */
  before: number | null;
  /** The scheduler that started the new daemon, or null if the daemon restarted itself. */
  startedBy: SchedulerKind | null;
}

const RESTART_MS = 60_000;
const RESTART_POLL_MS = 100;

/**
 * Restarts the daemon, or starts its job, and waits until the daemon is listening. Throws `config` if the
 * configuration is invalid, and `unavailable` if there is neither a daemon nor a job.
 */
export async function restartDaemon(context: Context): Promise<Restarted> {
  await context.loadConfig();
  const previous = readInstance(context.area);
  const asked = await askToRestart(context);
  const startedBy = asked?.restartsItself === true ? null : await startByJob(context, asked?.pid);
  const { pid, url } = await nextInstance(context, previous);
  return { url, pid, before: asked?.pid ?? null, startedBy };
}

/**
 * Asks the daemon to restart. Stops the daemon if its version doesn't support restarting. Returns undefined
 * if no daemon is running.
 */
async function askToRestart(context: Context): Promise<{ pid: number; restartsItself: boolean } | undefined> {
  try {
    const asked = await askDaemon<{ pid: number }>(context, { method: 'POST', path: '/api/restart' });
    return asked && { pid: asked.pid, restartsItself: true };
  } catch (error) {
    if (!(error instanceof StewardError && error.kind === 'not_found')) throw error;
    const { pid } = await stopDaemon(context);
    return pid === null ? undefined : { pid, restartsItself: false };
  }
}

async function startByJob(context: Context, stopped: number | undefined): Promise<SchedulerKind> {
  const { startDaemonJob } = await import('./schedule');
  const startedBy = await startDaemonJob(context);
  if (startedBy !== undefined) return startedBy;
  throw new StewardError(
    'unavailable',
    stopped === undefined
      ? 'The daemon is not running, and no job is installed to start it.'
      : `Stopped the daemon (process ${stopped}), but its version cannot restart itself.`,
    { hint: 'Start the daemon with "steward up", or install its job with "steward daemon install".' },
  );
}

async function nextInstance(context: Context, previous: Instance | undefined): Promise<Instance> {
  const deadline = context.clock.monotonic() + RESTART_MS;
  while (context.clock.monotonic() < deadline) {
    const now = readInstance(context.area);
    const isNew = now !== undefined && (now.pid !== previous?.pid || now.startedAt !== previous.startedAt);
    if (isNew && (await isDaemonThere(context))) return now;
    await wait(RESTART_POLL_MS);
  }
  throw new StewardError('unavailable', 'The daemon stopped, but did not restart within 60 s.', {
    hint: 'Check "steward daemon logs".',
  });
}
