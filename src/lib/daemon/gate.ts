import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

import { StewardError } from '../errors';
import { createFile, readText } from '../platform/files/atomic-file';
import type { Clock } from '../platform/time/clock';
import { isOpenToOthers } from '../platform/files/folder';
import type { RequestHead } from '../platform/net/http-application';

const CODE_MS = 60_000;
const MAX_CODES = 20;

/** Who may ask over TCP. */
export interface Gate {
  /** Does a request without a key get no data? */
  isRequired: boolean;
  /** Does the request bring the token or the secret of a page? Such a sender may read, whoever it is. */
  hasKey: (head: RequestHead) => boolean;
  /** Does the request bring the secret that only a signed-in page has? */
  hasPageSecret: (head: RequestHead) => boolean;
  /** A code that signs one page in, valid for `CODE_MS`. */
  newCode: () => { code: string; expiresInSec: number };
  /** The secret of the pages in return for a code; undefined when the code is unknown, used or expired. */
  redeem: (code: string) => string | undefined;
}

/**
 * Programs send the token of the file, pages a secret of this run of the daemon. A page keeps its secret by origin
 * and sends it as a header: a cookie would reach every port of the host.
 *
 * @param token undefined where none is required
 */
export function gate(clock: Pick<Clock, 'monotonic'>, token: string | undefined): Gate {
  const secret = randomBytes(32).toString('base64url');
  const isToken = token === undefined ? undefined : matcher(token);
  const isSecret = matcher(secret);
  /** The digests of the codes, and when each expires. */
  const codes = new Map<string, number>();
  const hasPageSecret = (head: RequestHead): boolean => isSecret(bearerOf(head));
  return {
    isRequired: isToken !== undefined,
    hasKey: (head) => isToken?.(bearerOf(head)) === true || hasPageSecret(head),
    hasPageSecret,
    newCode() {
      const code = randomBytes(24).toString('base64url');
      codes.set(keyOf(code), clock.monotonic() + CODE_MS);
      for (const old of codes.keys()) if (codes.size > MAX_CODES) codes.delete(old);
      return { code, expiresInSec: CODE_MS / 1000 };
    },
    redeem(code) {
      const key = keyOf(code);
      const expiresMs = codes.get(key);
      codes.delete(key);
      return expiresMs !== undefined && clock.monotonic() < expiresMs ? secret : undefined;
    },
  };
}

/** The token of the file, which is made, 0600, where there is none. A file that is no token is `config`. */
export function readToken(path: string): string {
  createFile(path, `${randomBytes(32).toString('base64url')}\n`);
  const token = readText(path, { maxBytes: 4096 })?.trim() ?? '';
  if (!/^[\w-]{32,}$/.test(token)) {
    throw new StewardError('config', `${path} holds no token.`, {
      hint: 'Remove it: the daemon makes a new one when it starts.',
    });
  }
  if (isOpenToOthers(path)) {
    throw new StewardError('config', `Other users of this machine can read ${path}.`, {
      hint: 'Remove it: the daemon makes a new one when it starts.',
    });
  }
  return token;
}

/** Compares in constant time. */
function matcher(secret: string): (given: string | undefined) => boolean {
  const wanted = digest(secret);
  return (given) => given !== undefined && timingSafeEqual(digest(given), wanted);
}

function bearerOf({ headers }: RequestHead): string | undefined {
  const value = headers['authorization'];
  return typeof value === 'string' ? /^Bearer +(\S+) *$/i.exec(value)?.[1] : undefined;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Codes are looked up by their digest, so the time of a look-up says nothing about them. */
function keyOf(code: string): string {
  return digest(code).toString('base64url');
}
