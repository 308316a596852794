import { createConnection } from 'node:net';

import { StewardError, errnoCode } from '../errors';

export interface LocalRequest {
  /** A unix socket, or a named pipe on Windows. */
  socket: string;
  method: 'GET' | 'POST';
  /** Path and query. */
  path: string;
  /** Sent as JSON. */
  body?: unknown;
  timeoutMs: number;
}

export interface LocalAnswer {
  status: number;
  /** The body, parsed. */
  json: unknown;
}

const MAX_BYTES = 16 * 1024 * 1024;

/**
 * One request to a server of ours over its local socket. By hand and not by `node:http`, which would cost a hook
 * some milliseconds: such a server always says the length, and hangs up when asked to. Nobody there: undefined.
 * A server that does not answer in time, or not in HTTP, is `unavailable`.
 */
export function askLocal(request: LocalRequest): Promise<LocalAnswer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const socket = createConnection({ path: request.socket });
    const settle = (end: () => void): void => {
      clearTimeout(timer);
      socket.destroy();
      end();
    };
    const fail = (what: string, cause?: unknown): void =>
      settle(() =>
        reject(
          new StewardError('unavailable', `The daemon ${what}.`, {
            hint: 'See what it does with "steward daemon logs"; start it again with "steward daemon serve".',
            cause,
          }),
        ),
      );
    const timer = setTimeout(() => fail(`did not answer in ${request.timeoutMs} ms`), request.timeoutMs);
    socket.on('error', (error) => {
      if (NOBODY.has(errnoCode(error) ?? '')) settle(() => resolve(undefined));
      else fail(`cannot be reached (${errnoCode(error) ?? error.message})`, error);
    });
    socket.on('data', (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > MAX_BYTES) fail('said more than can be right');
    });
    socket.on('end', () => {
      const answer = parseAnswer(Buffer.concat(chunks).toString('utf8'));
      if (answer === undefined) fail('gave an answer that cannot be read');
      else settle(() => resolve(answer));
    });
    socket.write(textOf(request));
  });
}

/** No socket, a socket that a killed server left, or one that was closed at this moment. */
const NOBODY = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTDIR', 'ENOTSOCK']);

function textOf({ method, path, body }: LocalRequest): string {
  const text = body === undefined ? '' : JSON.stringify(body);
  const lines = [`${method} ${path} HTTP/1.1`, 'host: localhost', 'connection: close'];
  if (method === 'POST') {
    lines.push('content-type: application/json', `content-length: ${Buffer.byteLength(text)}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n${text}`;
}

function parseAnswer(text: string): LocalAnswer | undefined {
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1];
  const start = text.indexOf('\r\n\r\n');
  if (status === undefined || start === -1) return undefined;
  try {
    return { status: Number(status), json: JSON.parse(text.slice(start + 4)) as unknown };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
