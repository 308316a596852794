import { sweepArea, type Machine } from '../config/user-area';
import { StewardError, toStewardError } from '../errors';
import { failed, ok, warning } from '../platform/check';
import { httpUrl, isLoopback, isNoAddress, localAddress, otherLoopback } from '../platform/net/address';
import { SERVER_LIMITS, type RequestHead, type ServerLimits } from '../platform/net/http-application';
import { httpServer, isTaken, type HttpServer } from '../platform/net/http-server';
import { portOwner } from '../platform/net/peer';
import { onStopSignal, ownProcess, residentMiB } from '../platform/process/own-process';
import { plural } from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import { toIso, type Clock } from '../platform/time/clock';
import { within } from '../platform/time/wait';
import { daemonApp, type AppDeps } from './app';
import { streamRoute, type Topic } from './changes';
import { gate, keptSecret, readToken, policyFor, tokenPath } from './guards';
import { asOnlyDaemon, removeInstance, writeInstance, type Instance } from './instance';
import { startJobs, type DaemonJob, type RunningJobs, UPGRADE_JOB, upgradeJob } from './jobs';
import { daemonLog, type DaemonLog } from './log';
import type { Route } from './route';
import { ownRoutes } from './routes';
import { findingsOf, type DaemonStatus, type Module } from './status';

/** The parts of the daemon, which app/daemon.ts assembles. */
export interface DaemonParts extends Machine {
  version: string;
  /** Version and build of this process. */
  build: string;
  host: string;
  /** Port to listen on; 0 means any free port. */
  port: number;
  requireToken: boolean;
  /** The secret of signed-in pages; by default, a random one that survives a restart. */
  pageSecret?: string;
  /** Whether to respond to other users on this machine over TCP. */
  otherUsers: boolean;
  routes: readonly Route[];
  topics: readonly Topic[];
  jobs: (log: DaemonLog) => readonly DaemonJob[];
  services?: (log: DaemonLog) => readonly Service[];
  modules: readonly Module[];
  sessions: () => Promise<number>;
  outbox: () => DaemonStatus['outbox'];
  spool: () => DaemonStatus['spool'];
  /** Returns the installed version and build, if known. */
  installedBuild: () => string | undefined;
  checkSec?: number;
  say: (text: string) => void;
  limits?: ServerLimits;
}

/**
 * Returns the parts of a daemon that only shows what is stored: it captures, sends and delivers nothing. Its pages are
 * signed in from the start, because invented data needs no protection.
 */
export function atRest(parts: DaemonParts): DaemonParts {
  return {
    ...parts,
    pageSecret: 'demo',
    jobs: () => [],
    services: () => [],
    installedBuild: () => undefined,
  };
}

/** Work that runs continuously, such as deliveries. */
export interface Service {
  /** Stops the service. Waits for work in progress, but only up to a timeout. */
  close: () => Promise<void>;
}

/** Why the daemon ended: a stop request, a restart request, or the installation of another build. */
export type Ending = 'stopped' | 'restarted' | 'outdated';

const REQUESTS_GRACE_MS = 5_000;
const JOBS_GRACE_MS = 5_000;

/**
 * Runs the daemon until a signal, a request or an upgrade ends it. Throws `locked` if another daemon is
 * running, `conflict` if the port is in use, and `config` if a non-loopback address has no token.
 */
export async function runDaemon(parts: DaemonParts, onListening: (instance: Instance) => void) {
  if (!isLoopback(parts.host) && !parts.requireToken) throw needsToken(parts.host);
  return asOnlyDaemon(parts, async () => {
    const log = daemonLog({ ...parts, path: parts.area.daemonLog, root: parts.area.root });
    const kept = keptSecret(parts);
    kept.keep();
    try {
      return await serve({ pageSecret: kept.secret, ...parts }, log, onListening);
    } catch (error) {
      log.write('error', 'not-started', { message: error instanceof Error ? error.message : String(error) });
      throw error;
    } finally {
      kept.keep();
    }
  });
}

async function serve(parts: DaemonParts, log: DaemonLog, onListening: (instance: Instance) => void) {
  const { area, clock, version, build, requireToken } = parts;
  const startedAt = toIso(clock.now());
  sweepArea(area);
  let end: (ending: Ending) => void = () => undefined;
  const ended = new Promise<Ending>((resolve) => (end = resolve));
  let { host, port } = parts;
  const url = (): string => httpUrl(host, port);
  const access = gate(clock, requireToken ? readToken(tokenPath(area)) : undefined, parts.pageSecret);
  let jobs: RunningJobs | undefined;
  let services: readonly Service[] = [];
  const status = () => statusOf(parts, startedAt, log, jobs);
  const own = ownRoutes({ version, build, status, end, url, gate: access });
  const onFault = faultLog(clock, log);
  const changes = streamRoute({
    clock,
    topics: parts.topics,
    run: `${ownProcess().pid} ${startedAt}`,
    version: build,
    hasPageSecret: access.hasPageSecret,
    ask: async (path) => app.answer(ownHead(path), Buffer.alloc(0)),
    onFault: (error) => onFault(ownHead('/api/stream'), toStewardError(error)),
  });
  const app = daemonApp({
    routes: [...own, changes, ...parts.routes],
    policy: policyFor(parts.host),
    gate: access,
    otherUsers: parts.otherUsers,
    onFault,
  });
  const server = httpServer(app, parts.limits ?? SERVER_LIMITS);
  const local = localAddress(area.machine, 'daemon');
  const ignoreSignals = onStopSignal(() => end('stopped'));
  const isIdle = (): boolean => server.load().open === 0 && jobs?.isIdle(UPGRADE_JOB) === true;
  let isStarted = false;
  try {
    ({ host, port } = await listenTcp(server, parts));
    await server.listenLocal(local.path);
    const { pid } = ownProcess();
    const instance = { pid, url: url(), port, socket: local.path, version, startedAt };
    writeInstance(area, instance);
    isStarted = true;
    log.write('info', 'started', { pid, url: url(), version });
    services = parts.services?.(log) ?? [];
    jobs = startJobs({ clock, log }, [...parts.jobs(log), upgradeJob({ ...parts, isIdle, end })]);
    onListening(instance);
    const why = await ended;
    log.write('info', 'stopping', { why, answered: server.load().answered });
    return why;
  } finally {
    const stopped = within(JOBS_GRACE_MS, jobs?.stop(), undefined);
    await Promise.all([server.close(REQUESTS_GRACE_MS), stopped, ...services.map((one) => one.close())]);
    // An answer in progress may still store something, for example in a folder that is removed after the end.
    await within(REQUESTS_GRACE_MS, app.settled(), undefined);
    ignoreSignals();
    local.remove();
    removeInstance(area);
    if (isStarted) log.write('info', 'stopped');
  }
}

function ownHead(target: string): RequestHead {
  return { method: 'GET', target, headers: {}, rawHeaders: [], isLocal: true, isOtherUser: () => false };
}

/** Returns a logger for request errors. Pages poll, so a recurring error is logged at most once per minute. */
function faultLog(clock: Clock, log: DaemonLog): AppDeps['onFault'] {
  const loggedMs = new Map<string, number>();
  return ({ method, target }, { kind, message, stack }) => {
    const request = `${method} ${target}`;
    const key = `${request} ${message}`;
    const nowMs = clock.monotonic();
    if (nowMs - (loggedMs.get(key) ?? -Infinity) < SAME_FAULT_MS) return;
    if (loggedMs.size >= MAX_FAULTS) loggedMs.clear();
    loggedMs.set(key, nowMs);
    log.write('error', 'request-failed', { request, kind, message, ...(kind === 'internal' && { stack }) });
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
  const own: Module[] = [
    {
      id: 'sessions',
      label: 'Sessions',
      health: async () => ok(plural(await parts.sessions(), 'session')),
    },
    {
      id: 'log',
      label: 'Log',
      health: () => {
        const reason = log.problem();
        return reason === undefined ? ok('writable') : failed(reason);
      },
    },
  ];
  const modules = (await findingsOf([...parts.modules, ...own])).map((module) => {
    const failure = jobs?.failureOf(module.id);
    if (failure === undefined || module.state === 'failed' || module.state === 'off') return module;
    return { ...module, ...warning(failure, { fix: 'steward daemon logs' }) };
  });
  return {
    version: parts.version,
    ...ownProcess(),
    memoryMiB: residentMiB(),
    startedAt,
    modules,
    outbox: parts.outbox(),
    spool: parts.spool(),
    jobs: jobs?.status() ?? [],
  };
}

/**
 * Listens on the configured address. If that is a loopback address that this machine doesn't have, listens on
 * the other one.
 */
export async function listenTcp(
  server: Pick<HttpServer, 'listenTcp'>,
  { host, port, say }: Pick<DaemonParts, 'host' | 'port' | 'say'>,
): Promise<{ host: string; port: number }> {
  try {
    return { host, port: await server.listenTcp(host, port) };
  } catch (error) {
    if (isTaken(error)) throw portTaken(port, error);
    if (!isNoAddress(error)) throw notListening(host, port, error);
    const other = otherLoopback(host);
    if (!isLoopback(host)) throw noAddress(host, `daemon.host ${other}`, error);
    const otherPort = await server.listenTcp(other, port).catch((cause: unknown) => {
      if (isTaken(cause)) throw portTaken(port, cause);
      if (isNoAddress(cause)) throw noAddress(`${host} or ${other}`, 'daemon.host ADDRESS', cause);
      throw notListening(other, port, cause);
    });
    say(`This machine does not have the address ${host}. Listening on ${other} instead.`);
    return { host: other, port: otherPort };
  }
}

function notListening(host: string, port: number, cause: unknown): StewardError {
  return new StewardError('unavailable', `Could not listen on ${host}, port ${port}: ${String(cause)}`, {
    hint: 'Choose another port or host: steward config set daemon.port N',
    cause,
  });
}

function noAddress(hosts: string, setting: string, cause: unknown): StewardError {
  return new StewardError('unavailable', `This machine does not have the address ${hosts}.`, {
    hint: `Choose another address: steward config set ${setting}`,
    cause,
  });
}

function portTaken(port: number, cause: unknown): StewardError {
  const owner = portOwner(port);
  const who =
    owner === undefined
      ? 'another program'
      : owner.pid === null
        ? `another user's program (uid ${owner.uid})`
        : `process ${owner.pid}${owner.program === null ? '' : ` (${clean(owner.program)})`}`;
  return new StewardError('conflict', `Port ${port} is in use by ${who}.`, {
    hint: 'Stop that program, or choose another port: steward config set daemon.port N',
    cause,
  });
}

function needsToken(host: string): StewardError {
  return new StewardError(
    'config',
    `${host} is reachable from other machines, and daemon.requireToken is false.`,
    {
      hint: 'Require a token first: steward config set daemon.requireToken true',
    },
  );
}
