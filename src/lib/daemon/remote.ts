import type { Machine } from '../config/user-area';
import { StewardError } from '../errors';
import { wait } from '../platform/time/wait';
import { VERSION } from '../platform/version';
import type { SchedulerKind } from '../schedule/job';
import { askDaemon, findDaemon, isDaemonThere } from './client';
import { type Instance, readInstance } from './instance';
import type { OpenLink } from './routes';
import type { DaemonReport, DaemonStatus } from './status';

export async function daemonReport(machine: Pick<Machine, 'area'>): Promise<DaemonReport> {
  const found = await findDaemon(machine);
  const status = found && (await askDaemon<DaemonStatus>(machine, { method: 'GET', path: '/api/status' }));
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
export async function openLink(
  machine: Pick<Machine, 'area'>,
  page: keyof typeof PAGE_PATHS,
): Promise<OpenLink> {
  const link = await askDaemon<OpenLink>(machine, { method: 'POST', path: '/api/open' });
  if (link !== undefined) {
    const url = new URL(link.url);
    url.pathname = PAGE_PATHS[page];
    return { ...link, url: url.href };
  }
  throw new StewardError('unavailable', 'The daemon is not running.', {
    hint: 'Start it with "steward up" or "steward daemon serve", then run "steward open" again. Without a browser here, that prints the address.',
  });
}

export type Restarted = Awaited<ReturnType<typeof restartDaemon>>;

const RESTART_MS = 60_000;
const RESTART_POLL_MS = 100;

/**
 * Restarts the daemon or, if it isn't running, starts its job, and waits until the daemon is listening. Throws
 * `unavailable` if there is neither a daemon nor a job.
 */
export async function restartDaemon(
  machine: Pick<Machine, 'area' | 'clock'>,
  startJob: () => Promise<SchedulerKind | undefined>,
) {
  const previous = readInstance(machine.area);
  const asked = await askDaemon<{ pid: number }>(machine, { method: 'POST', path: '/api/restart' });
  const startedBy = asked === undefined ? await startJob() : undefined;
  if (asked === undefined && startedBy === undefined) {
    throw new StewardError('unavailable', 'The daemon is not running, and no job is installed to start it.', {
      hint: 'Start the daemon with "steward up", or install its job with "steward install daemon".',
    });
  }
  const { pid, url } = await nextInstance(machine, previous);
  return { url, pid, before: asked?.pid ?? null, startedBy: startedBy ?? null };
}

async function nextInstance(machine: Pick<Machine, 'area' | 'clock'>, previous: Instance | undefined) {
  const deadline = machine.clock.monotonic() + RESTART_MS;
  while (machine.clock.monotonic() < deadline) {
    const now = readInstance(machine.area);
    const isNew = now !== undefined && (now.pid !== previous?.pid || now.startedAt !== previous.startedAt);
    if (isNew && (await isDaemonThere(machine))) return now;
    await wait(RESTART_POLL_MS);
  }
  throw new StewardError('unavailable', 'The daemon stopped, but did not restart within 60 s.', {
    hint: 'Check "steward daemon logs".',
  });
}
