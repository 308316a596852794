import type { Config } from '../config/schema';
import type { UserArea } from '../config/user-area';
import type { CheckedHost } from '../platform/check';
import { failed, off, ok, orFailure, warning, type Check, type Finding } from '../platform/check';
import { parseObject } from '../platform/files/json-object';
import { hasAddress, httpUrl, isLoopback, otherLoopback } from '../platform/net/address';
import { askPort, type TextAnswer } from '../platform/net/local-http';
import { canIdentifyPeers, portOwner, type PortOwner } from '../platform/net/peer';
import { readInstance, type Instance } from './instance';
import type { Healthz } from './routes';

export interface DaemonChecked extends Pick<CheckedHost, 'host'> {
  area: UserArea;
  config: Pick<Config, 'user'>;
  /** Version of this command, which may differ from the daemon's version. */
  version: string;
  build: string;
  findDaemon: () => Promise<{ instance: Instance; health: Healthz } | undefined>;
}

type Unconfigured = Omit<DaemonChecked, 'config'>;

export const DAEMON_CHECKS: readonly Check<DaemonChecked>[] = [
  { id: 'daemon.runs', title: 'the daemon', needsConfig: false, run: checkRuns },
  { id: 'daemon.port', title: "the daemon's port", needsConfig: true, run: checkPort },
  { id: 'daemon.guard', title: "the daemon's access control", needsConfig: false, run: checkGuard },
  { id: 'daemon.users', title: 'other users', needsConfig: true, run: checkUsers },
];

const TIMEOUT_MS = 4_000;
const STOP = 'steward daemon stop';
const RESTART = 'steward daemon restart';
const NOT_RUNNING = off('not running', { fix: 'steward daemon serve' });

function checkRuns({ findDaemon, version, build }: Unconfigured): Promise<Finding[]> {
  return orFailure(async () => {
    const found = await findDaemon();
    if (found === undefined) return [NOT_RUNNING];
    const { instance, health } = found;
    const facts = `${instance.url}, process ${health.pid}, version ${health.version}`;
    if (health.version !== version)
      return [warning(`${facts}; this command is version ${version}`, { fix: RESTART })];
    return health.build === build
      ? [ok(facts)]
      : [warning(`${facts}; this command is a different build`, { fix: RESTART })];
  });
}

/** Checks what responds on the port: the daemon of this user area, another program, or nothing. */
async function checkPort({ config, findDaemon }: DaemonChecked): Promise<Finding[]> {
  const { host, port } = config.user.daemon;
  const running = await findDaemon().catch(() => undefined);
  if (running !== undefined) {
    const { instance } = running;
    return orFailure(async () => [
      judgeOwn(instance, await ask(hostOf(instance), instance.port, '/healthz', { host: `localhost:${instance.port}` })),
    ]);
  } // prettier-ignore
  if (port === 0) return [ok('any free port')];
  if (!(await hasAddress(host))) {
    const other = otherLoopback(host);
    if (!isLoopback(host) || !(await hasAddress(other))) return [noAddress(host)];
    return [ok(`${host} does not exist on this machine; the daemon listens on ${other}`)];
  }
  const isTaken = await ask(host, port, '/healthz', { host: 'localhost' })
    .then((answer) => answer !== undefined)
    // Something is listening on the port but doesn't speak HTTP.
    .catch(() => true);
  return [isTaken ? judgeTaken(port, portOwner(port)) : ok(`${port} is free`)];
}

function noAddress(host: string): Finding {
  return failed(`this machine does not have the address ${host}, so the daemon cannot start`, {
    fix: `steward config set daemon.host ${otherLoopback(host)}`,
  });
}

function hostOf({ url }: Instance): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, '');
}

function ask(host: string, port: number, path: string, headers: Record<string, string>) {
  const address = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return askPort({ host: address, port }, path, headers, TIMEOUT_MS);
}

export function judgeOwn({ url, pid, port }: Instance, answer: TextAnswer | undefined): Finding {
  if (answer === undefined)
    return failed(`the daemon is running, but nothing responds at ${url}`, { fix: RESTART });
  if (answer.status === 401) return ok(`${url}, token required`);
  if (answer.status === 200 && parseObject(answer.text)?.['pid'] === pid)
    return ok(`your daemon responds at ${url}`);
  return failed(`another program responds at ${url}`, {
    hint: 'Choose another port, then restart the daemon.',
    fix: `steward config set daemon.port ${port + 1}`,
  });
}

export function judgeTaken(port: number, owner: PortOwner | undefined): Finding {
  const holder =
    owner === undefined
      ? 'another program'
      : owner.program === null
        ? "another user's program"
        : `${owner.program} (process ${owner.pid})`;
  return warning(`port ${port} is in use by ${holder}, so the daemon cannot start`, {
    hint: 'Stop that program or choose another port:',
    fix: `steward config set daemon.port ${port < 65_535 ? port + 1 : port - 1}`,
  });
}

/** Requests that a malicious web page could send. The daemon must reject them. */
const FOREIGN: readonly { what: string; headers: (own: string) => Record<string, string> }[] = [
  { what: 'an unknown Host header', headers: () => ({ host: 'steward.example.org' }) },
  { what: 'an unknown Origin header', headers: (own) => ({ host: own, origin: 'https://example.org' }) },
  { what: 'a cross-site request', headers: (own) => ({ host: own, 'sec-fetch-site': 'cross-site' }) },
];

async function checkGuard({ area, findDaemon }: Unconfigured): Promise<Finding[]> {
  const instance = readInstance(area);
  const running = await findDaemon().catch(() => undefined);
  if (instance === undefined || running === undefined) return [NOT_RUNNING];
  return orFailure(async () => {
    const own = new URL(httpUrl('127.0.0.1', instance.port)).host;
    const accepted: string[] = [];
    for (const { what, headers } of FOREIGN) {
      const answer = await ask(hostOf(instance), instance.port, '/api/status', headers(own));
      if (answer?.status !== 403) accepted.push(`${what} (${answer?.status ?? 'no response'})`);
    }
    if (accepted.length === 0) return [ok(`refuses ${FOREIGN.map(({ what }) => what).join(', ')}`)];
    return [
      failed(`accepts ${accepted.join(', ')}`, {
        hint: 'A web page could read your data. Stop the daemon and reinstall steward:',
        fix: STOP,
      }),
    ];
  });
}

function checkUsers({ config, host }: DaemonChecked): Finding[] {
  const { requireToken, otherUsers } = config.user.daemon;
  return [
    judgeUsers({
      requireToken,
      otherUsers,
      isLinux: host.platform === 'linux',
      canIdentify: canIdentifyPeers(),
    }),
  ];
}

export function judgeUsers(facts: {
  requireToken: boolean;
  otherUsers: boolean;
  isLinux: boolean;
  canIdentify: boolean;
}): Finding {
  const fix = 'steward config set daemon.requireToken true';
  if (facts.requireToken) return ok('a token is required');
  if (facts.otherUsers) return ok('other users are allowed (daemon.otherUsers)');
  if (!facts.isLinux)
    return warning('other users can read your record, because this system does not identify them', { fix });
  if (facts.canIdentify) return ok('other users are refused');
  return warning('other users are allowed, because /proc/net/tcp cannot be read', { fix });
}
