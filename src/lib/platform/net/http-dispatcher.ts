import type { Dispatcher } from 'undici';

import { StewardError } from '../../errors';
import { isLoopbackHost } from './loopback';
import { processHost } from '../files/paths';

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
export function refusePlain({ protocol, hostname }: URL): void {
  if (protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname))) return;
  throw new StewardError('config', `${hostname} is to be reached without encryption.`, {
    hint: 'Use an https:// address; http:// is for this machine only.',
  });
}
