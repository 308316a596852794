import { writeSync } from 'node:fs';

import { StewardError, errnoCode } from '../../errors';
import { connectLocal, pause, tryRead } from './non-blocking';

export interface LocalRequest {
  /** Path of a Unix socket, or of a named pipe on Windows. */
  socket: string;
  method: 'GET' | 'POST';
  path: string;
  /** Request body, sent as JSON. */
  body?: unknown;
  timeoutMs: number;
}

export interface LocalAnswer {
  status: number;
  /** The response body, parsed as JSON. */
  json: unknown;
}

const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const UNREADABLE = 'sent an invalid response';
const TOO_LARGE = 'sent a response over 16 MiB';

/** Errors that occur if the daemon isn't running, because the socket is missing or nothing listens on it. */
const NOT_RUNNING = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTDIR', 'ENOTSOCK']);

/** Sends a request to the daemon over its local socket; returns undefined if the daemon isn't running. */
export async function askLocal(request: LocalRequest): Promise<LocalAnswer | undefined> {
  const answer = await ask({ path: request.socket }, requestText(request), request.timeoutMs);
  return answer && jsonOf(answer);
}

/**
 * Sends a GET request to a loopback address, with exactly these headers. Returns undefined if nothing listens on
 * the port; throws `unavailable` if no HTTP response arrives in time.
 */
export function askPort(
  to: { host: string; port: number },
  path: string,
  headers: Readonly<Record<string, string>>,
  timeoutMs: number,
): Promise<TextAnswer | undefined> {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return ask(to, `GET ${path} HTTP/1.1\r\n${fields.join('\r\n')}\r\nconnection: close\r\n\r\n`, timeoutMs);
}

/** Doesn't load `node:http`, which takes a few milliseconds. */
function ask(
  to: { path: string } | { host: string; port: number },
  text: string,
  timeoutMs: number,
): Promise<TextAnswer | undefined> {
  const { createConnection } = process.getBuiltinModule('node:net');
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const socket = createConnection(to);
    const settle = (end: () => void): void => {
      clearTimeout(timer);
      socket.destroy();
      end();
    };
    const fail = (what: string, cause?: unknown): void =>
      settle(() =>
        reject(
          'port' in to
            ? new StewardError('unavailable', `Port ${to.port} ${what}.`, { cause })
            : daemonError(what, cause),
        ),
      );
    const timer = setTimeout(() => fail(`did not respond within ${timeoutMs} ms`), timeoutMs);
    socket.on('error', (error) => {
      if (NOT_RUNNING.has(errnoCode(error) ?? '')) settle(() => resolve(undefined));
      else fail(`cannot be reached (${errnoCode(error) ?? error.message})`, error);
    });
    socket.on('data', (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > MAX_ANSWER_BYTES) fail(TOO_LARGE);
    });
    socket.on('end', () => {
      const answer = parseAnswer(Buffer.concat(chunks));
      if (answer === undefined) fail(UNREADABLE);
      else settle(() => resolve(answer));
    });
    socket.write(text);
  });
}

const CHUNK = 64 * 1024;
/** Polling interval. The daemon usually responds within a millisecond. */
const PAUSE_MS = 0.2;
const LONG_PAUSE_MS = 2;
const LONG_AFTER_MS = 10;

/**
 * A blocking version of `askLocal`. Avoiding Node's streams makes hooks 20% faster. Returns undefined if the
 * request couldn't be sent.
 */
export function askLocalNow(request: LocalRequest): LocalAnswer | undefined {
  const pipe = connectLocal(request.socket);
  if (pipe === undefined) return undefined;
  try {
    const wait = waiter(request.timeoutMs);
    return send(pipe.fd, Buffer.from(requestText(request), 'utf8'), wait)
      ? receive(pipe.fd, wait)
      : undefined;
  } finally {
    pipe.close();
  }
}

/** Sends all bytes; returns false if nothing was sent. */
function send(fd: number, bytes: Buffer, wait: () => void): boolean {
  for (let done = 0; done < bytes.length;) {
    try {
      done += writeSync(fd, bytes, done);
    } catch (error) {
      const code = errnoCode(error) ?? '';
      if (code === 'EAGAIN') wait();
      else if (done === 0) return false;
      else throw daemonError(`cannot be reached (${code})`, error);
    }
  }
  return true;
}

function receive(fd: number, wait: () => void): LocalAnswer {
  const chunk = Buffer.allocUnsafe(CHUNK);
  let bytes = Buffer.alloc(0);
  for (let size: number | undefined; ;) {
    // Pause first, because a read that finds no data takes longer than a pause.
    if (size === undefined) wait();
    const got = tryRead(fd, chunk);
    if (got === undefined) {
      wait();
      continue;
    }
    bytes = Buffer.concat([bytes, chunk.subarray(0, got)]);
    size ??= answerSize(bytes);
    if (bytes.length > MAX_ANSWER_BYTES) throw daemonError(TOO_LARGE);
    const isComplete = size !== undefined && bytes.length >= size;
    const answer = isComplete ? parseAnswer(bytes.subarray(0, size)) : undefined;
    if (answer !== undefined) return jsonOf(answer);
    if (isComplete || got === 0) throw daemonError(UNREADABLE);
  }
}

/** Returns a function that pauses briefly or, once the timeout has passed, throws `unavailable`. */
function waiter(timeoutMs: number): () => void {
  const startMs = process.uptime() * 1000;
  return () => {
    const waitedMs = process.uptime() * 1000 - startMs;
    if (waitedMs > timeoutMs) throw daemonError(`did not respond within ${timeoutMs} ms`);
    pause(waitedMs < LONG_AFTER_MS ? PAUSE_MS : LONG_PAUSE_MS);
  };
}

function daemonError(what: string, cause?: unknown): StewardError {
  return new StewardError('unavailable', `The daemon ${what}.`, {
    hint: 'Check "steward daemon logs", or restart the daemon with "steward daemon serve".',
    cause,
  });
}

/** Formats a request that asks the daemon to close the connection. */
function requestText({ method, path, body }: LocalRequest): string {
  const text = body === undefined ? '' : JSON.stringify(body);
  const lines = [`${method} ${path} HTTP/1.1`, 'host: localhost', 'connection: close'];
  if (method === 'POST') {
    lines.push('content-type: application/json', `content-length: ${Buffer.byteLength(text)}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n${text}`;
}

/** Returns the size of a response in bytes, or undefined until its headers have arrived. */
function answerSize(bytes: Buffer): number | undefined {
  const start = bytes.indexOf('\r\n\r\n') + 4;
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(bytes.toString('latin1', 0, start))?.[1];
  return length === undefined ? undefined : start + Number(length);
}

export type TextAnswer = NonNullable<ReturnType<typeof parseAnswer>>;

function parseAnswer(bytes: Buffer) {
  const [head = '', text] = bytes.toString('utf8').split(/\r\n\r\n(.*)/s);
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1];
  return status === undefined || text === undefined ? undefined : { status: Number(status), text };
}

function jsonOf({ status, text }: TextAnswer): LocalAnswer {
  try {
    return { status, json: JSON.parse(text) as unknown };
  } catch (error) {
    throw daemonError(UNREADABLE, error);
  }
}
