import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

import { StewardError } from '../errors';
import { createFile, readText } from '../platform/atomic-file';
import type { Clock } from '../platform/clock';
import { isOpenToOthers } from '../platform/folder';
import type { RequestHead } from '../platform/http-application';

const LINK_MS = 60_000;
const MAX_LINKS = 20;
const COOKIE_MS = 30 * 86_400_000;
const MAX_COOKIES = 100;

/** Who may ask over TCP where a token is required (decisions.md 8). */
export interface Gate {
  isAuthorised: (head: RequestHead) => boolean;
  /** A code for one login, good for `LINK_MS`. */
  newCode: () => { code: string; expiresInSec: number };
  /** Takes a code, once, and gives the cookie's header; undefined when it is none, used or too old. */
  redeem: (code: string) => string | undefined;
}

/**
 * A token in a header, or the cookie of a browser that came by a one-time link. The cookie is not the token:
 * browsers send the cookies of a host to every port of it, so any other local server would get to see it. It is
 * good for this run of the daemon, at most 30 days.
 *
 * @param port tells the cookies of two daemons on one host apart
 */
export function gate(clock: Clock, token: string, port: () => number): Gate {
  const wanted = digest(token);
  const codes = new Map<string, number>();
  const cookies = new Map<string, number>();
  const live = (kept: Map<string, number>, key: string): boolean => (kept.get(key) ?? 0) > clock.monotonic();
  const keep = (kept: Map<string, number>, key: string, ms: number, max: number): void => {
    kept.set(key, clock.monotonic() + ms);
    for (const old of kept.keys()) if (kept.size > max || !live(kept, old)) kept.delete(old);
  };
  const cookieName = (): string => `steward-${port()}`;
  return {
    isAuthorised({ headers }) {
      const bearer = /^Bearer +(\S+) *$/i.exec(textOf(headers['authorization']))?.[1];
      if (bearer !== undefined) return timingSafeEqual(digest(bearer), wanted);
      const cookie = cookieOf(textOf(headers['cookie']), cookieName());
      return cookie !== undefined && live(cookies, keyOf(cookie));
    },
    newCode() {
      const code = randomBytes(24).toString('base64url');
      keep(codes, keyOf(code), LINK_MS, MAX_LINKS);
      return { code, expiresInSec: LINK_MS / 1000 };
    },
    redeem(code) {
      const key = keyOf(code);
      if (!live(codes, key)) return undefined;
      codes.delete(key);
      const secret = randomBytes(32).toString('base64url');
      keep(cookies, keyOf(secret), COOKIE_MS, MAX_COOKIES);
      return `${cookieName()}=${secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${COOKIE_MS / 1000}`;
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

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Secrets are looked up by their digest, so that the time of a look-up tells nothing of them. */
function keyOf(secret: string): string {
  return digest(secret).toString('base64url');
}

function textOf(value: string | string[] | undefined): string {
  return typeof value === 'string' ? value : (value?.[0] ?? '');
}

function cookieOf(header: string, name: string): string | undefined {
  for (const part of header.split(';')) {
    const [key = '', value = ''] = part.trim().split('=', 2);
    if (key === name) return value;
  }
  return undefined;
}
