import type { Dispatcher } from 'undici';

import { StewardError, errnoCode } from '../../errors';
import { processHost } from '../files/paths';
import { isLoopbackHost } from './address';

/** Why no whole answer came. `sent` is false when the request certainly never reached the server. */
export interface NetworkFailure {
  code: string;
  sent: boolean;
}

/** Failures of before the request was written. */
const NOT_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** The error of a request without a whole answer; `name` is what it was sent to, in words. */
export function networkError(name: string, code: string, hint: string): StewardError {
  const cause: NetworkFailure = { code, sent: !NOT_SENT.has(code) };
  return new StewardError('unavailable', `${name} ${told(code)}.`, { hint, cause });
}

/** What kept an answer from coming; undefined for errors of another kind. */
export function networkFailureOf(error: unknown): NetworkFailure | undefined {
  const cause = error instanceof StewardError ? error.cause : undefined;
  return typeof cause === 'object' && cause !== null && 'sent' in cause && 'code' in cause
    ? (cause as NetworkFailure)
    : undefined;
}

/** The system's or the library's code for it, else its name. */
export function codeOf(error: unknown): string {
  return errnoCode(error) ?? (error instanceof Error ? error.name : 'Error');
}

function told(code: string): string {
  if (code.includes('TIMEOUT')) return 'did not answer in time';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'could not be resolved';
  if (code === 'ECONNREFUSED') return 'refused the connection';
  if (BROKEN.has(code)) {
    return 'closed the connection before its answer was complete';
  }
  if (code === 'TOO_LARGE') return 'sent too large an answer';
  // The port is one of plain HTTP, or of something else.
  if (/^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)$/.test(code)) {
    return `does not speak TLS (${code})`;
  }
  if (code.startsWith('HPE_') || code === 'HTTPParserError') return `does not speak HTTP (${code})`;
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

/** What is sent to this machine never goes through a proxy. */
const LOOPBACK = 'localhost,127.0.0.1,::1,[::1]';
const CONNECT_MS = 10_000;
/** A kept connection that the server has closed meanwhile looks like a request that was lost. */
const KEEP_ALIVE_MS = 2_000;

export interface DispatcherOptions {
  /** Where HTTPS_PROXY and its kin stand; the process's own unless given. */
  env?: NodeJS.ProcessEnv;
  /** For the connection alone, ms. */
  connectMs?: number;
}

/**
 * What every request to another server goes through. Loads the HTTP library, which costs some 30 ms. The proxies of
 * the environment (HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY) are honoured; kinds that the library does not speak
 * (SOCKS) are passed over.
 */
export async function openDispatcher(options: DispatcherOptions = {}): Promise<Dispatcher> {
  const { EnvHttpProxyAgent } = await import('undici');
  const env = options.env ?? processHost().env;
  const noProxy = [valueOf(env, 'NO_PROXY'), LOOPBACK].filter((text) => text !== '').join(',');
  return new EnvHttpProxyAgent({
    // An empty text keeps the library from looking into the environment itself.
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

/** Credentials travel encrypted, but for this machine; anything else is `config`. */
export function requireEncryption({ protocol, hostname }: URL): void {
  if (protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname))) return;
  throw new StewardError('config', `${hostname} requires encryption.`, {
    hint: 'Use an https:// address; http:// works only for this machine.',
  });
}
