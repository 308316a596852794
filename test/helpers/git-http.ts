import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { closeServer } from './github';

export interface GitHttp {
  url: string;
  /** The Authorization headers that came. */
  seen: string[];
  /** Answers every request so, in place of git. */
  refuse: number | undefined;
  close: () => Promise<void>;
}

/** The real git as a server over HTTP for the bare repositories in a folder, for those with the credential. */
export async function startGitHttp(root: string, authorization: string): Promise<GitHttp> {
  const server = createServer((request, response) => {
    const given = request.headers.authorization ?? '';
    http.seen.push(given);
    if (http.refuse !== undefined || given !== authorization) {
      response.writeHead(http.refuse ?? 401).end();
      return;
    }
    backend(root, request, response);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const http: GitHttp = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
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
