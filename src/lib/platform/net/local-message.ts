import { StewardError } from '../../errors';

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

export const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
export const UNREADABLE = 'gave an answer that cannot be read';

/** What a server of ours that does not answer as it should is told as. */
export function noAnswer(what: string, cause?: unknown): StewardError {
  return new StewardError('unavailable', `The daemon ${what}.`, {
    hint: 'See what it does with "steward daemon logs"; start it again with "steward daemon serve".',
    cause,
  });
}

/** A request as it goes over the socket; such a server hangs up when it has answered. */
export function textOf({ method, path, body }: LocalRequest): string {
  const text = body === undefined ? '' : JSON.stringify(body);
  const lines = [`${method} ${path} HTTP/1.1`, 'host: localhost', 'connection: close'];
  if (method === 'POST') {
    lines.push('content-type: application/json', `content-length: ${Buffer.byteLength(text)}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n${text}`;
}

/** How many bytes an answer has whose head is there; undefined before that, and where it does not say. */
export function sizeOf(bytes: Buffer): number | undefined {
  const start = bytes.indexOf('\r\n\r\n') + 4;
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(bytes.toString('latin1', 0, start))?.[1];
  return length === undefined ? undefined : start + Number(length);
}

/** The answer that stands in these bytes; undefined where none does. */
export function answerIn(bytes: Buffer): LocalAnswer | undefined {
  const text = bytes.toString('utf8');
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
