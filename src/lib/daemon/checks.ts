import { httpUrl } from '../platform/net/address';
import { askPort, type PortAnswer } from '../platform/net/local-http';
import { canIdentifyPeers, portOwner, type PortOwner } from '../platform/net/peer';
import { parseObject } from '../platform/files/json-object';
import { readInstance, type Instance } from './instance';
import type { Config } from '../config/schema';
import type { UserArea } from '../config/user-area';
import { failed, off, ok, orFailure, warning, type Check, type Finding } from '../platform/check';
import type { PathHost } from '../platform/files/paths';
import type { Healthz } from './routes';

/** What the checks of the daemon are given. */
export interface DaemonChecked {
  area: UserArea;
  host: PathHost;
  config: Pick<Config, 'user'>;
  /** Of this program. */
  version: string;
  findDaemon: () => Promise<{ instance: Instance; health: Healthz } | undefined>;
}

type Unconfigured = Omit<DaemonChecked, 'config'>;

export const DAEMON_CHECKS: readonly Check<DaemonChecked>[] = [
  { id: 'daemon.runs', title: 'the daemon', needsConfig: false, run: checkRuns },
  { id: 'daemon.port', title: 'its port', needsConfig: true, run: checkPort },
  { id: 'daemon.guard', title: 'its guards', needsConfig: false, run: checkGuard },
  { id: 'daemon.users', title: 'other users', needsConfig: true, run: checkUsers },
];

const TIMEOUT_MS = 4_000;
const START = 'steward daemon serve';
const STOP = 'steward daemon stop';
const NOT_RUNNING = 'it does not run';

function checkRuns({ findDaemon, version }: Unconfigured): Promise<Finding[]> {
  return orFailure(async () => {
    const found = await findDaemon();
    if (found === undefined) return [off(NOT_RUNNING, { mend: START })];
    const { instance, health } = found;
    const words = `${instance.url}, process ${health.pid}, version ${health.version}`;
    if (health.version === version) return [ok(words)];
    return [
      warning(`${words}; this command is version ${version}`, {
        hint: 'It starts anew by itself when its own package was upgraded and it has nothing to do; or stop it, and start it again:',
        mend: STOP,
      }),
    ];
  });
}

/** Whose answer comes from the port: of this user area's daemon, of another program, or nobody's. */
async function checkPort(at: DaemonChecked): Promise<Finding[]> {
  const { host, port } = at.config.user.daemon;
  const running = await at.findDaemon().catch(() => undefined);
  if (running !== undefined) {
    return orFailure(async () => [judgeOwn(running.instance, await healthOf(running.instance))]);
  }
  if (port === 0) return [ok('any that is free when it starts')];
  const answer = await askPort({
    host: askedAt(host),
    port,
    path: '/healthz',
    headers: { host: 'localhost' },
    timeoutMs: TIMEOUT_MS,
  })
    .then((found) => found !== undefined)
    // Somebody is there who speaks something else.
    .catch(() => true);
  return [answer ? judgeTaken(port, portOwner(port)) : ok(`${port} is free for it`)];
}

function healthOf({ url, port }: Instance): Promise<PortAnswer | undefined> {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  return askPort({
    host: askedAt(host),
    port,
    path: '/healthz',
    headers: { host: `localhost:${port}` },
    timeoutMs: TIMEOUT_MS,
  });
}

/** Who listens on every address is asked on this machine's own. */
function askedAt(host: string): string {
  return host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
}

export function judgeOwn(instance: Instance, answer: PortAnswer | undefined): Finding {
  const at = instance.url;
  if (answer === undefined) {
    return failed(`the daemon runs, and nobody answers at ${at}`, {
      hint: 'Stop it, and start it again:',
      mend: STOP,
    });
  }
  // Where a token is asked for, that it is asked for is the answer.
  if (answer.status === 401) return ok(`${at}, and a token is asked for`);
  const pid = parseObject(answer.text)?.['pid'];
  if (answer.status === 200 && pid === instance.pid)
    return ok(`${at} is answered by this user area's daemon`);
  return failed(`${at} is answered by another program than this user area's daemon`, {
    hint: 'Choose another port, and start the daemon again.',
    mend: `steward config set daemon.port ${instance.port + 1}`,
  });
}

export function judgeTaken(port: number, owner: PortOwner | undefined): Finding {
  const who =
    owner === undefined
      ? 'another program'
      : owner.program === null
        ? 'a program of another user'
        : `${owner.program} (process ${owner.pid})`;
  return warning(`port ${port} is taken by ${who}, so the daemon could not start`, {
    hint: 'End that, or choose another port:',
    mend: `steward config set daemon.port ${port < 65_535 ? port + 1 : port - 1}`,
  });
}

/** What a web page in the person's browser could try; each has to be refused. */
const FOREIGN: readonly { what: string; headers: (own: string) => Record<string, string> }[] = [
  { what: 'another Host', headers: () => ({ host: 'steward.example.org' }) },
  { what: 'another Origin', headers: (own) => ({ host: own, origin: 'https://example.org' }) },
  { what: 'a cross-site request', headers: (own) => ({ host: own, 'sec-fetch-site': 'cross-site' }) },
];

async function checkGuard({ area, findDaemon }: Unconfigured): Promise<Finding[]> {
  const instance = readInstance(area);
  if (instance === undefined || (await findDaemon().catch(() => undefined)) === undefined) {
    return [off(NOT_RUNNING, { mend: START })];
  }
  return orFailure(async () => {
    const host = askedAt(new URL(instance.url).hostname.replace(/^\[|\]$/g, ''));
    const own = new URL(httpUrl('127.0.0.1', instance.port)).host;
    const letIn: string[] = [];
    for (const { what, headers } of FOREIGN) {
      const answer = await askPort({
        host,
        port: instance.port,
        path: '/api/status',
        headers: headers(own),
        timeoutMs: TIMEOUT_MS,
      });
      if (answer?.status !== 403) letIn.push(`${what} (${answer?.status ?? 'no answer'})`);
    }
    return [judgeGuard(letIn)];
  });
}

/** @param letIn what was not refused */
function judgeGuard(letIn: readonly string[]): Finding {
  if (letIn.length === 0) return ok(`refuses ${FOREIGN.map(({ what }) => what).join(', ')}`);
  return failed(`what answers does not refuse ${letIn.join(', ')}`, {
    hint: 'A web page could ask it. Stop it, and install steward again:',
    mend: STOP,
  });
}

function checkUsers({ config, host }: DaemonChecked): Finding[] {
  const { requireToken, otherUsers } = config.user.daemon;
  return [
    judgeUsers({ requireToken, otherUsers, isLinux: host.platform === 'linux', canTell: canIdentifyPeers() }),
  ];
}

export function judgeUsers(at: {
  requireToken: boolean;
  otherUsers: boolean;
  isLinux: boolean;
  canTell: boolean;
}): Finding {
  const mend = 'steward config set daemon.requireToken true';
  if (at.requireToken) return ok('need the token');
  if (at.otherUsers) return ok('are answered, as daemon.otherUsers says');
  if (!at.isLinux) return off('are not told apart on this system; a token keeps them out', { mend });
  if (at.canTell) return ok('are refused');
  return warning('are answered: /proc/net/tcp cannot be read, which tells them apart', { mend });
}
