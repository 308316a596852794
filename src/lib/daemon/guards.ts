import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';

import type { UserArea } from '../config/user-area';
import { StewardError } from '../errors';
import { createFile, readText } from '../platform/files/atomic-file';
import { isOpenToOthers } from '../platform/files/folder';
import { ipVersion, isLoopback } from '../platform/net/address';
import type { HttpAnswer, RequestHead } from '../platform/net/http-application';
import type { Clock } from '../platform/time/clock';
import { refusal } from './route';

/** What the guards compare a request with. */
export interface GuardPolicy {
  /** Names and addresses under which the daemon is asked, lower case, IPv6 without brackets. */
  hosts: ReadonlySet<string>;
  /** It listens on every address of the machine: then any address, but no other name, is its own. */
  anyAddress: boolean;
}

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '::1'];
const WILDCARDS = new Set(['0.0.0.0', '::']);

export function policyFor(host: string): GuardPolicy {
  return { hosts: new Set([...LOOPBACK_NAMES, host.toLowerCase()]), anyAddress: WILDCARDS.has(host) };
}

/**
 * May this request be answered at all? A page of another origin in the person's browser
 * reaches loopback: it is told by Sec-Fetch-Site and Origin, and one whose name was bound anew to our address by
 * Host. What comes over the local socket is this user's own, and only its Host is looked at.
 */
export function guard(head: RequestHead, policy: GuardPolicy): HttpAnswer | undefined {
  const host = headerOf(head, 'host');
  if (host === undefined || countOf(head, 'host') !== 1 || !isOwnHost(host, policy)) {
    return STRANGE_HOST;
  }
  const site = headerOf(head, 'sec-fetch-site');
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return FOREIGN;
  const origin = headerOf(head, 'origin');
  if (origin === undefined) return undefined;
  if (countOf(head, 'origin') !== 1 || origin.toLowerCase() !== `http://${host.toLowerCase()}`)
    return FOREIGN;
  if (head.method === 'POST' && !isJson(headerOf(head, 'content-type'))) {
    return refusal(415, 'usage', 'A page sends JSON only.', 'Send it with content-type: application/json.');
  }
  return undefined;
}

const STRANGE_HOST = refusal(
  403,
  'auth',
  'The request names a host that is not this daemon.',
  'Ask it by the address that "steward daemon status" shows.',
);
const FOREIGN = refusal(
  403,
  'auth',
  'The request comes from a page of another origin.',
  'Only the pages of this daemon may ask it from a browser; open the address yourself.',
);

/** The host of a Host header without its port, lower case, IPv6 without brackets; undefined when it is none. */
export function hostNameOf(host: string): string | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:[\]@/\\?#\s]+))(?::\d{1,5})?$/i.exec(host);
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}

function isOwnHost(host: string, { hosts, anyAddress }: GuardPolicy): boolean {
  const name = hostNameOf(host);
  if (name === undefined) return false;
  return hosts.has(name) || isLoopback(name) || (anyAddress && ipVersion(name) !== 0);
}

/** `application/json`, with or without parameters. */
function isJson(type: string | undefined): boolean {
  return type !== undefined && /^application\/json\s*(?:;|$)/i.test(type);
}

function headerOf({ headers }: RequestHead, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}

/** How often a header was sent: of several, programs in between might believe another one. */
function countOf({ rawHeaders }: RequestHead, name: string): number {
  return rawHeaders.filter((raw, i) => i % 2 === 0 && raw.toLowerCase() === name).length;
}

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
  const isToken = /^[\w-]{32,}$/.test(token);
  if (isToken && !isOpenToOthers(path)) return token;
  const problem = isToken ? `Other users of this machine can read ${path}.` : `${path} holds no token.`;
  throw new StewardError('config', problem, {
    hint: 'Remove it: the daemon makes a new one when it starts.',
  });
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

/** The token of the daemon: machine-local, never in a user area that a person may sync. */
export function tokenPath(area: Pick<UserArea, 'machine'>): string {
  return join(area.machine, 'daemon.token');
}
