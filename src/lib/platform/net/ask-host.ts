import { StewardError } from '../../errors';
import { boundFetch } from './fetch';
import { codeOf, networkError } from './network-failure';

const TIMEOUT_MS = 8_000;
const MAX_BYTES = 1024 * 1024;

export interface Asked {
  status: number;
  headers: Headers;
  text: string;
}

/** `askHost` with the environment of a run. */
export type AskHost = (url: string, headers?: Record<string, string>) => Promise<Asked>;

/**
 * One GET of a host that the person uses, without a redirect. No answer is `unavailable`, and names the host alone:
 * the rest of the address may be a secret.
 */
export async function askHost(
  env: NodeJS.ProcessEnv,
  url: string,
  headers: Record<string, string> = {},
): Promise<Asked> {
  const { origin, hostname } = new URL(url);
  const send = boundFetch({ origin, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, env });
  try {
    const answer = await send(url, { headers: { ...headers, 'user-agent': 'steward' } });
    const text = (await answer.text()).slice(0, 64 * 1024);
    return { status: answer.status, headers: answer.headers, text };
  } catch (error) {
    if (error instanceof StewardError) throw error;
    const hint = 'Check the network, and that the address is right.';
    throw networkError(hostname, codeOf(innermost(error)), hint);
  }
}

/** What a library's error was caused by: the code is there. */
function innermost(error: unknown): unknown {
  let at = error;
  for (let depth = 0; at instanceof Error && depth < 8; depth += 1) {
    const cause: unknown = at instanceof AggregateError ? at.errors[0] : at.cause;
    if (!(cause instanceof Error)) break;
    at = cause;
  }
  return at;
}
