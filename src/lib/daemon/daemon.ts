import { StewardError } from '../errors';
import type { UserArea } from '../config/user-area';
import { httpUrl, isLoopback, localAddress } from '../platform/net/address';
import { toIso, type Clock } from '../platform/time/clock';
import { httpServer, isTaken, type HttpServer } from '../platform/net/http-server';
import { SERVER_LIMITS, type ServerLimits } from '../platform/net/http-application';
import { onStopSignal, ownProcess, residentMiB } from '../platform/process/own-process';
import { portOwner } from '../platform/net/peer';
import { clean } from '../platform/terminal/terminal';
import { daemonApp, type AppDeps } from './app';
import { gate, readToken, policyFor, tokenPath } from './guards';
import { asOnlyDaemon, removeInstance, writeInstance, type Instance } from './instance';
import { startJobs, type Job, type RunningJobs, UPGRADE_JOB, upgradeJob } from './jobs';
import { daemonLog, type DaemonLog } from './log';
import { ownRoutes } from './routes';
import type { Route } from './route';
import { healthOf, type DaemonStatus, type Module } from './status';

/** What the daemon is made of: each table takes a new part as one row. */
export interface DaemonParts {
  area: UserArea;
  clock: Clock;
  machineId: string;
  version: string;
  host: string;
  /** 0: any free one. */
  port: number;
  requireToken: boolean;
  /** Other users of this machine are answered over TCP, too. */
  otherUsers: boolean;
  routes: readonly Route[];
  jobs: (log: DaemonLog) => readonly Job[];
  /** What works for as long as the daemon listens. */
  services?: (log: DaemonLog) => readonly Service[];
  modules: readonly Module[];
  sessions: () => DaemonStatus['sessions'] | Promise<DaemonStatus['sessions']>;
  outbox: () => DaemonStatus['outbox'];
  spool: () => DaemonStatus['spool'];
  /** The version of steward that is installed now; undefined while that cannot be told. */
  installedVersion: () => string | undefined;
  /** How often that is looked at. */
  lookSec?: number;
  /** What a person should know that cannot be logged. */
  say: (text: string) => void;
  limits?: ServerLimits;
}

/** Something that works all the time, beside requests and jobs. */
export interface Service {
  /** Ends what is under way in bounded time, and resolves when it has. */
  close: () => Promise<void>;
}

/** Why the daemon ended: it was asked to; or it is to be started anew, since it was asked to or another version was installed. */
export type Ending = 'stopped' | 'restarted' | 'outdated';

/** How long requests that have arrived may take once the daemon was asked to stop, and jobs that are at work, ms. */
const REQUESTS_GRACE_MS = 5_000;
const JOBS_GRACE_MS = 5_000;

/**
 * Runs the daemon of the user area until it is asked to stop: by a signal, over its socket, or because another
 * version was installed and it has nothing to do. Another daemon of this area is `locked`, a taken port
 * `conflict`, an address beyond loopback without a token `config`.
 */
export async function runDaemon(
  parts: DaemonParts,
  onListening: (instance: Instance) => void,
): Promise<Ending> {
  if (!isLoopback(parts.host) && !parts.requireToken) throw needsToken(parts.host);
  return asOnlyDaemon(parts, async () => {
    const log = daemonLog({ ...parts, path: parts.area.daemonLog, root: parts.area.root });
    try {
      return await serve(parts, log, onListening);
    } catch (error) {
      log.write('error', 'not-started', { message: error instanceof Error ? error.message : String(error) });
      throw error;
    }
  });
}

async function serve(
  parts: DaemonParts,
  log: DaemonLog,
  onListening: (instance: Instance) => void,
): Promise<Ending> {
  const startedAt = toIso(parts.clock.now());
  let end: (ending: Ending) => void = () => undefined;
  const ended = new Promise<Ending>((resolve) => (end = resolve));
  let port = parts.port;
  const url = (): string => httpUrl(parts.host, port);
  const { requireToken } = parts;
  const door = gate(parts.clock, requireToken ? readToken(tokenPath(parts.area)) : undefined);
  let jobs: RunningJobs | undefined;
  let services: readonly Service[] = [];
  const status = (): Promise<DaemonStatus> => statusOf(parts, startedAt, log, jobs);
  const app = daemonApp({
    routes: [
      ...ownRoutes({ version: parts.version, status, end, url, gate: door, requireToken }),
      ...parts.routes,
    ],
    policy: policyFor(parts.host),
    gate: door,
    otherUsers: parts.otherUsers,
    onFault: faultLog(parts.clock, log),
  });
  const server = httpServer(app, parts.limits ?? SERVER_LIMITS);
  const local = localAddress(parts.area.machine, 'daemon');
  const deaf = onStopSignal(() => end('stopped'));
  let isStarted = false;
  try {
    port = await listenTcp(server, parts);
    await server.listenLocal(local.path);
    const { pid } = ownProcess();
    const instance = { pid, url: url(), port, socket: local.path, version: parts.version, startedAt };
    writeInstance(parts.area, instance);
    isStarted = true;
    log.write('info', 'started', { pid, url: url(), version: parts.version });
    services = parts.services?.(log) ?? [];
    const watch = upgradeJob({
      ...parts,
      isIdle: () => server.load().open === 0 && jobs?.isIdle(UPGRADE_JOB) === true,
      end,
    });
    jobs = startJobs({ clock: parts.clock, log }, [...parts.jobs(log), watch]);
    onListening(instance);
    const ending = await ended;
    log.write('info', 'stopping', { why: ending, answered: server.load().answered });
    return ending;
  } finally {
    await Promise.all([
      server.close(REQUESTS_GRACE_MS),
      bounded(jobs?.stop(), JOBS_GRACE_MS),
      ...services.map((service) => service.close()),
    ]);
    deaf();
    local.remove();
    removeInstance(parts.area);
    if (isStarted) log.write('info', 'stopped');
  }
}

/** A page asks again and again: the same fault at the same address is logged once a minute. */
function faultLog(clock: Clock, log: DaemonLog): AppDeps['onFault'] {
  const told = new Map<string, number>();
  return ({ method, target }, { kind, message, stack }) => {
    const request = `${method} ${target}`;
    const nowMs = clock.monotonic();
    if (nowMs - (told.get(`${request} ${message}`) ?? -Infinity) < SAME_FAULT_MS) return;
    if (told.size >= MAX_FAULTS) told.clear();
    told.set(`${request} ${message}`, nowMs);
    log.write('error', 'request-failed', {
      request,
      kind,
      message,
      ...(kind === 'internal' ? { stack } : {}),
    });
  };
}

const SAME_FAULT_MS = 60_000;
const MAX_FAULTS = 100;

async function statusOf(
  parts: DaemonParts,
  startedAt: string,
  log: DaemonLog,
  jobs: RunningJobs | undefined,
): Promise<DaemonStatus> {
  let sessions: DaemonStatus['sessions'] = [];
  const own: Module[] = [
    {
      id: 'sessions',
      label: 'Sessions',
      health: async () => {
        sessions = await parts.sessions();
        return { state: 'ok' };
      },
    },
    {
      id: 'log',
      label: 'Log',
      health: () => {
        const reason = log.problem();
        return reason === undefined ? { state: 'ok' } : { state: 'error', reason };
      },
    },
  ];
  const modules = (await healthOf([...parts.modules, ...own])).map((module) => {
    const failure = jobs?.failureOf(module.id);
    if (failure === undefined || module.state === 'error' || module.state === 'off') return module;
    return { ...module, state: 'needs-you' as const, reason: failure, fix: 'steward daemon logs' };
  });
  return {
    version: parts.version,
    ...ownProcess(),
    memoryMiB: residentMiB(),
    startedAt,
    modules,
    sessions,
    outbox: parts.outbox(),
    spool: parts.spool(),
    jobs: jobs?.status() ?? [],
  };
}

async function listenTcp(server: HttpServer, { host, port }: DaemonParts): Promise<number> {
  try {
    return await server.listenTcp(host, port);
  } catch (error) {
    if (isTaken(error)) throw portTaken(port, error);
    throw new StewardError(
      'unavailable',
      `The daemon cannot listen on ${host}, port ${port}: ${String(error)}`,
      {
        hint: 'Choose another one: steward daemon serve --port N, or steward config set daemon.port N.',
        cause: error,
      },
    );
  }
}

function portTaken(port: number, cause: unknown): StewardError {
  const owner = portOwner(port);
  const who =
    owner === undefined
      ? 'another program'
      : owner.pid === null
        ? `a program of another user (uid ${owner.uid})`
        : `process ${owner.pid}${owner.program === null ? '' : ` (${clean(owner.program)})`}`;
  const look =
    owner === undefined ? ` See by whom: lsof -nP -iTCP:${port} -sTCP:LISTEN (Windows: netstat -ano).` : '';
  return new StewardError('conflict', `Port ${port} is taken by ${who}.`, {
    hint: `End that program, or choose another port: steward config set daemon.port N.${look}`,
    cause,
  });
}

function needsToken(host: string): StewardError {
  return new StewardError('config', `${host} can be reached from other machines, and no token is required.`, {
    hint: 'Require one first: steward config set daemon.requireToken true',
  });
}

/** Waits for the work, but not longer. */
async function bounded(work: Promise<void> | undefined, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([work, late]);
  clearTimeout(timer);
}
