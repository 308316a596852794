import type { Dispatcher } from 'undici';

import { StewardError, errnoCode } from '../../errors';
import { processHost } from '../files/paths';
import { isLoopbackHost } from './address';

/**
 * Why a request got no complete response. `sent` is false only if the server can't have received the request.
 */
interface NetworkFailure {
  code: string;
  sent: boolean;
}

/** Error codes of failures before the request is sent. */
const NOT_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/**
 * Returns the error for a request that got no complete response; `name` is the server's name in the message.
 */
export function networkError(name: string, code: string, hint: string): StewardError {
  const cause: NetworkFailure = { code, sent: !NOT_SENT.has(code) };
  return new StewardError('unavailable', `${name} ${reasonOf(code)}.`, { hint, cause });
}

export function networkFailureOf(error: unknown): NetworkFailure | undefined {
  const cause = error instanceof StewardError ? error.cause : undefined;
  return typeof cause === 'object' && cause !== null && 'sent' in cause && 'code' in cause
    ? (cause as NetworkFailure)
    : undefined;
}

/** Returns the error's code, or its name if it has none. */
export function codeOf(error: unknown): string {
  return errnoCode(error) ?? (error instanceof Error ? error.name : 'Error');
}

function reasonOf(code: string): string {
  if (code.includes('TIMEOUT')) return 'did not respond in time';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'could not be resolved';
  if (code === 'ECONNREFUSED') return 'refused the connection';
  if (BROKEN.has(code)) return 'closed the connection before its response was complete';
  if (code === 'TOO_LARGE') return 'sent a response that is too large';
  if (/^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)$/.test(code)) {
    return `is not a TLS server (${code})`;
  }
  if (code.startsWith('HPE_') || code === 'HTTPParserError') return `is not an HTTP server (${code})`;
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO/.test(code)) return `has an untrusted certificate (${code})`;
  return `cannot be reached (${code})`;
}

const BROKEN = new Set([
  'ECONNRESET',
  'EPIPE',
  'UND_ERR_SOCKET',
  'UND_ERR_ABORTED',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
]);

/** Hosts that are never reached through a proxy. */
const LOOPBACK = 'localhost,127.0.0.1,::1,[::1]';
const CONNECT_MS = 10_000;
/** Lifetime of an idle connection, short enough that the server doesn't close the connection first. */
const KEEP_ALIVE_MS = 2_000;

export interface DispatcherOptions {
  /** Environment with the proxy variables. Default: the environment of this process. */
  env?: NodeJS.ProcessEnv;
  connectMs?: number;
}

/**
 * Returns the dispatcher for requests to other servers. Honors HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and
 * NO_PROXY, but doesn't support SOCKS proxies. Loading the library takes 30 ms.
 */
export async function openDispatcher(options: DispatcherOptions = {}): Promise<Dispatcher> {
  const { EnvHttpProxyAgent } = await import('undici');
  const env = options.env ?? processHost().env;
  const noProxy = [valueOf(env, 'NO_PROXY'), LOOPBACK].filter((text) => text !== '').join(',');
  return new EnvHttpProxyAgent({
    // An undefined value would make the library read the environment of this process.
    httpProxy: proxyOf(env, 'HTTP_PROXY'),
    httpsProxy: proxyOf(env, 'HTTPS_PROXY'),
    noProxy,
    connect: { timeout: options.connectMs ?? CONNECT_MS },
    keepAliveTimeout: KEEP_ALIVE_MS,
  });
}

function proxyOf(env: NodeJS.ProcessEnv, name: string): string {
  const usable = [name, 'ALL_PROXY']
    .map((known) => valueOf(env, known))
    .find((value) => /^https?:\/\//i.test(value) && URL.canParse(value));
  return usable ?? '';
}

function valueOf(env: NodeJS.ProcessEnv, name: string): string {
  return env[name.toLowerCase()] ?? env[name] ?? '';
}

/** Throws if the URL uses plain HTTP, unless the host is localhost. */
export function requireEncryption({ protocol, hostname }: URL): void {
  if (protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname))) return;
  throw new StewardError('config', `${hostname} requires encryption.`, {
    hint: 'Use an https:// address; http:// works only for localhost.',
  });
}

/**
 * Parses a Retry-After header (seconds or an HTTP date). Returns ms, or undefined if the header is invalid.
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,7}(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
  const date = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}
