import type { Emulator } from 'emulate';
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';

import type { HostLabel } from '../../src/lib/work/host/github-read';
import { LABEL_SETS, lackingLabels, readLabels } from '../../src/lib/work/labels';
import { graphqlAnswer } from './github-graphql';

const SHIPPED = resolve(__dirname, '..', '..', 'templates', 'work', LABEL_SETS.neutral);

export interface Seen {
  method: string;
  path: string;
  status: number;
  body: string;
}

/** What goes wrong with a request: an answer in place of the real one, or a connection that breaks. */
export type Fault =
  | { status: number; headers?: Record<string, string>; body?: unknown }
  /** Broken before anything took effect. */
  | 'reset'
  /** It took effect, and the answer never came. */
  | 'drop'
  /** The answer is cut in the middle. */
  | 'cut'
  | 'hang';

export interface GitHub {
  url: string;
  token: string;
  /** The full names of the repositories that it began with. */
  repos: readonly string[];
  /** What came in since it started, in order. */
  seen: Seen[];
  /** Asked for each request. */
  fault: (request: { method: string; path: string }) => Fault | undefined;
  /** Issues that lists do not show yet, by number. */
  hidden: Set<number>;
  /** Rows that stand in lists of issues as pull requests. */
  pullRequests: boolean;
  /** A request as the person would make it, past faults and counts. */
  api: (method: string, path: string, body?: unknown) => Promise<unknown>;
  /** Listens on a socket file too: that is how the real `gh` is brought here. */
  listenOn: (socket: string) => Promise<void>;
  close: () => Promise<void>;
}

export interface GitHubOptions {
  repos?: { name: string; private?: boolean }[];
  login?: string;
  /** Whether `work` begins with the shipped labels, so that `work setup` needs no request for each. */
  labels?: boolean;
}

let tokens = 0;

/**
 * The emulator behind a front that adds what the real service has and the emulator lacks: ETags and 304, 401 for
 * unknown tokens, 404 for what a token may not see, pull requests in lists; and faults on demand.
 */
export async function startGitHub(options: GitHubOptions = {}): Promise<GitHub> {
  const login = options.login ?? 'ann';
  const repos = options.repos ?? [{ name: 'work' }];
  tokens += 1;
  const token = `ghp_test${tokens}${Math.random().toString(36).slice(2)}`;
  // It knows no require().
  const { createEmulator } = await import('emulate');
  const emulator = await createEmulator({
    service: 'github',
    port: 0,
    seed: {
      tokens: { [token]: { login, scopes: ['repo', 'read:org'] } },
      github: {
        users: [{ login }],
        repos: repos.map((repo) => ({
          owner: login,
          private: true,
          ...repo,
        })),
      },
    },
  });
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    answer(github, emulator, request, response).catch(() => response.destroy());
  };
  const server = createServer(listener);
  const others: Server[] = [];
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const github: GitHub = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    repos: repos.map(({ name }) => `${login}/${name}`),
    seen: [],
    fault: () => undefined,
    hidden: new Set(),
    pullRequests: false,
    async api(method, path, body) {
      const reply = await fetch(emulator.url + path, {
        method,
        headers: { authorization: `token ${token}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await reply.text();
      if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
      return text === '' ? undefined : (JSON.parse(text) as unknown);
    },
    async listenOn(socket) {
      const other = createServer(listener);
      others.push(other);
      await new Promise<void>((done) => other.listen(socket, done));
    },
    close: async () => {
      for (const one of [server, ...others]) await closeServer(one);
      await emulator.close();
    },
  };
  if (options.labels === true) await addLabels(github, `${login}/work`, await readLabels(SHIPPED));
  return github;
}

/** Past steward's client, which sends one write at a time: setting up took longer than most tests. */
export async function addLabels(github: GitHub, repo: string, wanted: readonly HostLabel[]): Promise<void> {
  const path = `/repos/${repo}/labels`;
  const existing = (await github.api('GET', `${path}?per_page=100`)) as { name: string }[];
  const lacking = lackingLabels(
    wanted,
    existing.map(({ name }) => name),
  );
  await Promise.all(lacking.map((label) => github.api('POST', path, label)));
}

async function answer(
  github: GitHub,
  emulator: Emulator,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = 'GET', url: path = '/' } = request;
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const note = (status: number): void => {
    github.seen.push({ method, path, status, body: body.toString('utf8') });
  };
  const send = (status: number, text: string, headers: Record<string, string> = {}): void => {
    note(status);
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers }).end(text);
  };
  const fault = github.fault({ method, path });
  if (fault === 'hang') {
    note(0);
    return;
  }
  if (fault === 'reset') {
    note(0);
    response.destroy();
    return;
  }
  if (typeof fault === 'object') {
    send(
      fault.status,
      fault.body === '' ? '' : JSON.stringify(fault.body ?? { message: 'A fault' }),
      fault.headers,
    );
    return;
  }
  const authorization = request.headers.authorization ?? '';
  if (!authorization.endsWith(` ${github.token}`)) {
    send(401, '{"message":"Bad credentials"}');
    return;
  }
  const asked = path === '/graphql' ? await graphqlAnswer(github, body.toString('utf8')) : undefined;
  if (asked !== undefined) {
    send(200, JSON.stringify({ data: asked }));
    return;
  }
  const reply = await fetch(emulator.url + path, {
    method,
    headers: { authorization },
    ...(body.length === 0 ? {} : { body }),
  });
  let text = (await reply.text()).replaceAll(emulator.url, github.url);
  if (fault === 'drop') {
    note(-1);
    response.destroy();
    return;
  }
  const headers: Record<string, string> = {};
  for (const name of ['link', 'x-ratelimit-remaining', 'x-ratelimit-reset']) {
    const value = reply.headers.get(name);
    if (value !== null) headers[name] = value.replaceAll(emulator.url, github.url);
  }
  if (reply.status === 403 && method === 'GET') {
    send(404, '{"message":"Not Found"}');
    return;
  }
  if (/^\/repos\/[^/]+\/[^/]+\/issues\?/.test(path) && reply.ok && method === 'GET')
    text = asListed(github, text);
  if (method === 'GET' && reply.ok) {
    const etag = `W/"${createHash('sha256').update(`${authorization} ${text}`).digest('hex')}"`;
    headers['etag'] = etag;
    if (request.headers['if-none-match'] === etag) {
      note(304);
      response.writeHead(304, headers).end();
      return;
    }
  }
  if (fault === 'cut') {
    note(reply.status);
    response.writeHead(reply.status, {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
    });
    response.write(text.slice(0, Math.floor(text.length / 2)), () => response.destroy());
    return;
  }
  send(reply.status, reply.status === 204 ? '' : text, headers);
}

function asListed(github: GitHub, text: string): string {
  const rows = (JSON.parse(text) as { number: number }[]).filter(({ number }) => !github.hidden.has(number));
  if (!github.pullRequests) return JSON.stringify(rows);
  const [first] = rows;
  return JSON.stringify(
    first === undefined ? rows : [...rows, { ...first, number: 100_000, pull_request: { url: 'x' } }],
  );
}

export async function closeServer(server: Server): Promise<void> {
  const closed = new Promise((done) => server.close(done));
  server.closeAllConnections();
  await closed;
}
