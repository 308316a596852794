import type { Dispatcher } from 'undici';

import { StewardError, errnoCode } from '../errors';
import { processHost } from './paths';

export interface PostOptions {
  url: string;
  body: unknown;
  headers?: Readonly<Record<string, string>>;
  /** For everything together: connecting, sending, and the answer to its end. */
  timeoutMs: number;
}

/** What a server answered; of a longer body only the beginning. */
export interface PostAnswer {
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  text: string;
}

/** Posts a JSON body. No answer at all (refused, reset, no such host, too late) is `unavailable`. */
export type PostJson = (options: PostOptions) => Promise<PostAnswer>;

const MAX_ANSWER_BYTES = 64 * 1024;
/** Plain HTTP is for this machine only, and never goes through a proxy. */
const LOOPBACK = 'localhost,127.0.0.1,::1,[::1]';

/**
 * Loads the HTTP library, which costs some 30 ms, and gives the function that posts. Redirects are not followed:
 * what is posted holds credentials, and they belong to one host (decisions.md 9). The proxies of the environment
 * (HTTPS_PROXY, NO_PROXY, …) are honoured. An error names the host, never the address: it may be a secret.
 */
export async function loadPostJson(): Promise<PostJson> {
  const { EnvHttpProxyAgent, request } = await import('undici');
  const { env } = processHost();
  const noProxy = [env['no_proxy'] ?? env['NO_PROXY'], LOOPBACK].filter((text) => (text ?? '') !== '');
  const dispatcher = new EnvHttpProxyAgent({ noProxy: noProxy.join(','), connect: { timeout: 10_000 } });
  return (options) => post(request, dispatcher, options);
}

async function post(
  request: typeof import('undici').request,
  dispatcher: Dispatcher,
  { url, body, headers, timeoutMs }: PostOptions,
): Promise<PostAnswer> {
  const { hostname, protocol } = new URL(url);
  if (protocol !== 'https:' && !isLoopback(hostname)) {
    throw new StewardError('config', `${hostname} is to be reached without encryption.`, {
      hint: 'Use an https:// address; http:// is for this machine only.',
    });
  }
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await request(url, {
      method: 'POST',
      dispatcher,
      signal,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      headers: { ...headers, 'content-type': 'application/json; charset=utf-8', 'user-agent': 'steward' },
      body: JSON.stringify(body),
    });
    const text = await firstBytes(answer.body);
    return { status: answer.statusCode, headers: plain(answer.headers), text };
  } catch (error) {
    throw new StewardError('unavailable', `${hostname} ${whyNot(error, signal.aborted, timeoutMs)}.`, {
      hint: 'Check the network, and that the server runs.',
    });
  }
}

/** The beginning of the body; the rest is not waited for, however long it is. */
async function firstBytes(body: AsyncIterable<Uint8Array> & { destroy(): unknown }): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= MAX_ANSWER_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES).toString('utf8');
}

function whyNot(error: unknown, timedOut: boolean, timeoutMs: number): string {
  const code = errnoCode(error) ?? '';
  if (timedOut || code.includes('TIMEOUT')) return `did not answer in ${Math.round(timeoutMs / 1000)} s`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'is not known: no address was found for it';
  if (code === 'ECONNREFUSED') return 'refused the connection';
  if (code === 'ECONNRESET' || code === 'UND_ERR_SOCKET') return 'closed the connection before it answered';
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO/.test(code)) return `has no certificate to trust (${code})`;
  return `cannot be reached${code === '' ? '' : ` (${code})`}`;
}

function plain(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
