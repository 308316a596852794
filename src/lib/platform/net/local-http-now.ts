import { writeSync } from 'node:fs';

import { errnoCode } from '../../errors';
import {
  answerIn,
  MAX_ANSWER_BYTES,
  noAnswer,
  sizeOf,
  textOf,
  UNREADABLE,
  type LocalAnswer,
  type LocalRequest,
} from './local-message';
import { connectLocal, pause, tryRead } from './non-blocking';

const CHUNK = 64 * 1024;
/** A server of ours answers in less than a millisecond, unless it is busy. */
const PAUSE_MS = 0.2;
const LONG_PAUSE_MS = 2;
const LONG_AFTER_MS = 10;

/**
 * The same as `askLocal`, for a command that does nothing else: the process waits, and loads no streams, which would be a
 * fifth of its time. Undefined when nobody is there, or there is no such way here: nothing was sent then, and `askLocal` tells which
 * it is.
 */
export function askLocalNow(request: LocalRequest): LocalAnswer | undefined {
  const pipe = connectLocal(request.socket);
  if (pipe === undefined) return undefined;
  try {
    const wait = waiter(request.timeoutMs);
    return send(pipe.fd, Buffer.from(textOf(request), 'utf8'), wait) ? receive(pipe.fd, wait) : undefined;
  } finally {
    pipe.close();
  }
}

/** False when none of it was sent. */
function send(fd: number, bytes: Buffer, wait: () => void): boolean {
  for (let done = 0; done < bytes.length;) {
    try {
      done += writeSync(fd, bytes, done);
    } catch (error) {
      const code = errnoCode(error) ?? '';
      if (code === 'EAGAIN') wait();
      else if (done === 0) return false;
      else throw noAnswer(`cannot be reached (${code})`, error);
    }
  }
  return true;
}

function receive(fd: number, wait: () => void): LocalAnswer {
  const chunk = Buffer.allocUnsafe(CHUNK);
  let bytes = Buffer.alloc(0);
  for (let whole: number | undefined; ;) {
    // Before the first question, too: nobody has answered yet, and to be told so takes longer than to wait.
    if (whole === undefined) wait();
    const got = tryRead(fd, chunk);
    if (got === undefined) {
      wait();
      continue;
    }
    bytes = Buffer.concat([bytes, chunk.subarray(0, got)]);
    whole ??= sizeOf(bytes);
    if (bytes.length > MAX_ANSWER_BYTES) throw noAnswer('said more than can be right');
    const isWhole = whole !== undefined && bytes.length >= whole;
    const answer = isWhole ? answerIn(bytes.subarray(0, whole)) : undefined;
    if (answer !== undefined) return answer;
    if (isWhole || got === 0) throw noAnswer(UNREADABLE);
  }
}

/** Waits a little at each call; `unavailable` when the time is up. */
function waiter(timeoutMs: number): () => void {
  const begun = process.uptime() * 1000;
  return () => {
    const waited = process.uptime() * 1000 - begun;
    if (waited > timeoutMs) throw noAnswer(`did not answer in ${timeoutMs} ms`);
    pause(waited < LONG_AFTER_MS ? PAUSE_MS : LONG_PAUSE_MS);
  };
}
