import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { closeServer } from './github';

export const ME = 'me@example.org';
export const OTHER = 'other@example.org';

/** An environment in which git sees nothing of the person who runs the tests. */
export function bareEnvironment(home: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: join(home, 'gitconfig'),
  };
}

export interface CommitOptions {
  /** Committer date, s since the epoch. */
  at: number;
  /** Author date; the committer date by default. */
  authoredAt?: number;
  email?: string;
  subject?: string;
  /** Files to write; without any the commit is empty. */
  files?: Record<string, string>;
  args?: string[];
}

export interface GitBox {
  folder: string;
  env: NodeJS.ProcessEnv;
  /** Runs git in a folder of the box; throws when it fails. */
  git(cwd: string, args: string[], env?: NodeJS.ProcessEnv): string;
  /** A new repository on branch main with user.email ME; its path. */
  init(name: string, args?: string[]): string;
  /** Commits with fixed dates; the new commit's name. */
  commit(repo: string, options: CommitOptions): string;
  remove(): void;
}

/** A temporary folder with repositories in it. */
export function gitBox(): GitBox {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'steward-git-')));
  const env = bareEnvironment(folder);
  const git: GitBox['git'] = (cwd, args, more = {}) =>
    execFileSync('git', args, {
      cwd,
      env: { ...env, GIT_ALLOW_PROTOCOL: 'file', ...more },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  return {
    folder,
    env,
    git,
    init(name, args = []) {
      const path = join(folder, name);
      mkdirSync(path, { recursive: true });
      git(path, ['init', '-q', '-b', 'main', '--template=', ...args]);
      git(path, ['config', 'user.email', ME]);
      git(path, ['config', 'user.name', 'Me']);
      return path;
    },
    commit(repo, options) {
      const email = options.email ?? ME;
      const env = {
        ...dates(options.at, options.authoredAt),
        GIT_AUTHOR_EMAIL: email,
        GIT_AUTHOR_NAME: 'Somebody',
        GIT_COMMITTER_EMAIL: email,
        GIT_COMMITTER_NAME: 'Somebody',
      };
      const subject = options.subject ?? `commit at ${options.at}`;
      for (const [name, text] of Object.entries(options.files ?? {})) {
        writeFileSync(join(repo, name), text);
        git(repo, ['add', name]);
      }
      git(repo, ['commit', '-q', '--allow-empty', '-m', subject, ...(options.args ?? [])], env);
      return git(repo, ['rev-parse', 'HEAD']);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The variables that fix git's dates, seconds since the epoch. */
export function dates(committed: number, authored: number = committed): NodeJS.ProcessEnv {
  return { GIT_AUTHOR_DATE: `@${authored} +0000`, GIT_COMMITTER_DATE: `@${committed} +0000` };
}

export interface GitHttp {
  url: string;
  /** The Authorization headers that came. */
  seen: string[];
  /** Answers every request so, in place of git. */
  refuse: number | undefined;
  close: () => Promise<void>;
}

/** The real git as a server over HTTP(S) for the bare repositories in a folder, for those with the credential. */
export async function startGitHttp(
  root: string,
  authorization: string,
  tls?: { key: string; cert: string },
): Promise<GitHttp> {
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const given = request.headers.authorization ?? '';
    http.seen.push(given);
    if (http.refuse !== undefined || given !== authorization) {
      response.writeHead(http.refuse ?? 401, { 'www-authenticate': 'Basic realm="git"' }).end();
      return;
    }
    backend(root, request, response);
  };
  const server = tls === undefined ? createServer(answer) : createSecureServer(tls, answer);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const http: GitHttp = {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen: [],
    refuse: undefined,
    close: () => closeServer(server),
  };
  return http;
}

function backend(root: string, request: IncomingMessage, response: ServerResponse): void {
  const [path = '/', query = ''] = (request.url ?? '/').split('?');
  const child = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: path,
      QUERY_STRING: query,
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: String(request.headers['content-encoding'] ?? ''),
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      REMOTE_USER: 'ann',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  request.pipe(child.stdin);
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.on('close', () => {
    const all = Buffer.concat(chunks);
    const end = all.indexOf('\r\n\r\n');
    const headers = all
      .subarray(0, end)
      .toString('latin1')
      .split('\r\n')
      .map((line) => line.split(': ') as [string, string]);
    const status = headers.find(([name]) => name.toLowerCase() === 'status')?.[1];
    response.writeHead(
      Number(status?.slice(0, 3) ?? 200),
      Object.fromEntries(headers.filter(([name]) => name.toLowerCase() !== 'status')),
    );
    response.end(all.subarray(end + 4));
  });
}
