import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';

import type { Machine, UserArea } from '../config/user-area';
import { StewardError } from '../errors';
import { createFile, readText, replaceFile } from '../platform/files/atomic-file';
import { isOpenToOthers } from '../platform/files/folder';
import { isIP, isLoopback } from '../platform/net/address';
import type { HttpAnswer, RequestHead } from '../platform/net/http-application';
import type { Clock } from '../platform/time/clock';
import { extensionOf } from '../sense/web-pairing';
import { forbidden, refusal } from './route';

/** The host that a request's Host header may name, besides loopback. `anyAddress`: any IP address too. */
export type GuardPolicy = ReturnType<typeof policyFor>;

export function policyFor(host: string) {
  return { host: host.toLowerCase(), anyAddress: host === '0.0.0.0' || host === '::' };
}

/**
 * Returns an error response if a request comes from another origin's page or through DNS rebinding. Checks
 * Host, Origin and Sec-Fetch-Site. With `forExtension`, admits the browser extension and nothing else.
 */
export function guard(head: RequestHead, policy: GuardPolicy, forExtension = false): HttpAnswer | undefined {
  const host = headerOf(head, 'host');
  if (host === undefined || countOf(head, 'host') !== 1 || !isOwnHost(host, policy)) {
    return UNKNOWN_HOST;
  }
  const origin = headerOf(head, 'origin');
  if (forExtension && (countOf(head, 'origin') !== 1 || extensionOf(origin ?? '') === undefined))
    return OTHER_EXTENSION;
  if (forExtension) return jsonRefusal(head);
  const site = headerOf(head, 'sec-fetch-site');
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return FOREIGN;
  if (origin === undefined) return undefined;
  if (countOf(head, 'origin') !== 1 || origin.toLowerCase() !== `http://${host.toLowerCase()}`)
    return FOREIGN;
  return jsonRefusal(head);
}

function jsonRefusal(head: RequestHead): HttpAnswer | undefined {
  if (head.method !== 'POST' || isJson(headerOf(head, 'content-type'))) return undefined;
  return refusal(415, 'usage', 'Web pages must send JSON.', 'Send content-type: application/json.');
}

const UNKNOWN_HOST = forbidden(
  'The Host header does not name this daemon.',
  'Use the address that "steward daemon status" shows.',
);
const FOREIGN = forbidden(
  'Requests from pages on another origin are refused.',
  'In a browser, open the address directly.',
);

const OTHER_EXTENSION = forbidden(
  'Only the extension that "steward sense web install" writes may send sites.',
  'Remove this one, and load the folder that the command names.',
);

/**
 * Returns the lower-case host name in a Host header, without port or IPv6 brackets; undefined if the header
 * is invalid.
 */
export function hostNameOf(host: string): string | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:[\]@/\\?#\s]+))(?::\d{1,5})?$/i.exec(host);
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}

function isOwnHost(given: string, { host, anyAddress }: GuardPolicy): boolean {
  const name = hostNameOf(given);
  if (name === undefined) return false;
  return name === host || isLoopback(name) || (anyAddress && isIP(name) !== 0);
}

function isJson(type: string | undefined): boolean {
  return type !== undefined && /^application\/json\s*(?:;|$)/i.test(type);
}

export function headerOf({ headers }: RequestHead, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}

/**
 * Counts a header's occurrences. Two Host headers are ambiguous, because a proxy and the daemon may use
 * different ones.
 */
function countOf({ rawHeaders }: RequestHead, name: string): number {
  return rawHeaders.filter((raw, i) => i % 2 === 0 && raw.toLowerCase() === name).length;
}

const newSecret = (): string => randomBytes(32).toString('base64url');

const CODE_MS = 60_000;
const MAX_CODES = 20;

/**
 * Returns the check for requests over TCP. If `token` is undefined, reading requires no token. Pages send
 * their secret in a header, because browsers would send a cookie to every port of the host.
 */
export function gate(clock: Pick<Clock, 'monotonic'>, token?: string, secret = newSecret()) {
  const isToken = token === undefined ? undefined : matcher(token);
  const isSecret = matcher(secret);
  /**
   * Maps digests of codes to expiry times. Uses digests so that lookup timing reveals nothing about a code.
   */
  const codes = new Map<string, number>();
  /** Returns whether the request has the secret of a signed-in page. */
  const hasPageSecret = (head: RequestHead): boolean => isSecret(bearerOf(head));
  return {
    /** Whether reading requires the token or a page secret. */
    isRequired: isToken !== undefined,
    /** Returns whether the request has the token or a page secret. */
    hasKey: (head: RequestHead) => isToken?.(bearerOf(head)) === true || hasPageSecret(head),
    hasPageSecret,
    /** Returns a one-time code for signing in a page. */
    newCode() {
      const code = randomBytes(24).toString('base64url');
      codes.set(keyOf(code), clock.monotonic() + CODE_MS);
      for (const old of codes.keys()) if (codes.size > MAX_CODES) codes.delete(old);
      return { code, expiresInSec: CODE_MS / 1000 };
    },
    /** Exchanges a code for the page secret; returns undefined if the code is unknown, used or expired. */
    redeem(code: string) {
      const key = keyOf(code);
      const expiresMs = codes.get(key);
      codes.delete(key);
      return expiresMs !== undefined && clock.monotonic() < expiresMs ? secret : undefined;
    },
  };
}

export type Gate = ReturnType<typeof gate>;

const KEEP_SECRET_MS = 86_400_000;

/**
 * Returns the secret of signed-in pages, and a function that keeps it for the next daemon. It is valid for a day
 * after it was last kept, and only on this machine.
 */
export function keptSecret({ area, clock, machineId }: Machine): { secret: string; keep: () => void } {
  const path = join(area.machine, 'page.secret');
  const [machine, at, kept = ''] = readText(path, { maxBytes: 4096 })?.trim().split(' ') ?? [];
  const ageMs = clock.now() - Number(at);
  const isValid = machine === machineId && ageMs >= 0 && ageMs < KEEP_SECRET_MS && /^[\w-]{43}$/.test(kept);
  const secret = isValid && !isOpenToOthers(path) ? kept : newSecret();
  return { secret, keep: () => replaceFile(path, `${machineId} ${clock.now()} ${secret}\n`) };
}

/**
 * Returns the token from its file, creating the file (0600) if needed. Throws `config` if the token is
 * invalid.
 */
export function readToken(path: string): string {
  createFile(path, `${newSecret()}\n`);
  const token = readText(path, { maxBytes: 4096 })?.trim() ?? '';
  const isToken = /^[\w-]{32,}$/.test(token);
  if (isToken && !isOpenToOthers(path)) return token;
  const problem = isToken
    ? `Other users can read the token file ${path}.`
    : `${path} is not a valid token file.`;
  throw new StewardError('config', problem, {
    hint: 'Remove the file; the daemon creates a new one when it starts.',
  });
}

/** Returns a function that compares a value to the secret in constant time. */
export function matcher(secret: string): (given: string | undefined) => boolean {
  const wanted = digest(secret);
  return (given) => given !== undefined && timingSafeEqual(digest(given), wanted);
}

export function bearerOf({ headers }: RequestHead): string | undefined {
  const value = headers['authorization'];
  return typeof value === 'string' ? /^Bearer +(\S+) *$/i.exec(value)?.[1] : undefined;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function keyOf(code: string): string {
  return digest(code).toString('base64url');
}

/** Returns the token's path, which is machine-local because the user area may be synced. */
export function tokenPath(area: Pick<UserArea, 'machine'>): string {
  return join(area.machine, 'daemon.token');
}
