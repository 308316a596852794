import { createConnection } from 'node:net';

import { errnoCode } from '../../errors';
import {
  answerIn,
  MAX_ANSWER_BYTES,
  noAnswer,
  textOf,
  UNREADABLE,
  type LocalAnswer,
  type LocalRequest,
} from './local-message';

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
    const fail = (what: string, cause?: unknown): void => settle(() => reject(noAnswer(what, cause)));
    const timer = setTimeout(() => fail(`did not answer in ${request.timeoutMs} ms`), request.timeoutMs);
    socket.on('error', (error) => {
      if (NOBODY.has(errnoCode(error) ?? '')) settle(() => resolve(undefined));
      else fail(`cannot be reached (${errnoCode(error) ?? error.message})`, error);
    });
    socket.on('data', (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > MAX_ANSWER_BYTES) fail('said more than can be right');
    });
    socket.on('end', () => {
      const answer = answerIn(Buffer.concat(chunks));
      if (answer === undefined) fail(UNREADABLE);
      else settle(() => resolve(answer));
    });
    socket.write(textOf(request));
  });
}

/** No socket, a socket that a killed server left, or one that was closed at this moment. */
const NOBODY = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTDIR', 'ENOTSOCK']);
