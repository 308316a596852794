import { boundFetch, type BoundFetch } from '../platform/net/fetch';
import { StewardError, errnoCode } from '../errors';
import type { ConfiguredContext } from './finding';

const TIMEOUT_MS = 8_000;
const MAX_BYTES = 1024 * 1024;

export interface Asked {
  status: number;
  headers: Headers;
  text: string;
}

/**
 * One GET of a host that the person uses, without a redirect. No answer is `unavailable`, and names the host alone:
 * the rest of the address may be a secret.
 */
export async function askHost(
  at: Pick<ConfiguredContext, 'host'>,
  url: string,
  headers: Record<string, string> = {},
): Promise<Asked> {
  const { origin, hostname } = new URL(url);
  const send: BoundFetch = boundFetch({
    origin,
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_BYTES,
    env: at.host.env,
  });
  try {
    const answer = await send(url, { headers: { ...headers, 'user-agent': 'steward' } });
    return {
      status: answer.status,
      headers: answer.headers,
      text: (await answer.text()).slice(0, 64 * 1024),
    };
  } catch (error) {
    if (error instanceof StewardError) throw error;
    throw new StewardError('unavailable', `${hostname} ${whyNot(error)}.`, {
      hint: 'Check the network, and that the address is right.',
    });
  }
}

function whyNot(error: unknown): string {
  const codes: string[] = [];
  for (let at = error; at instanceof Error && codes.length < 8; at = at.cause) {
    codes.push(errnoCode(at) ?? '', at.name);
    if (at instanceof AggregateError) codes.push(...at.errors.map((one) => errnoCode(one) ?? ''));
  }
  const has = (...names: string[]): boolean => names.some((name) => codes.includes(name));
  if (has('ENOTFOUND', 'EAI_AGAIN')) return 'is not known: no address was found for it';
  if (has('ECONNREFUSED')) return 'refused the connection';
  if (has('TOO_LARGE')) return 'sent an answer that is too large';
  if (has('TimeoutError', 'ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT'))
    return `did not answer in ${TIMEOUT_MS / 1000} s`;
  if (codes.some((code) => /CERT|SELF_SIGNED|UNABLE_TO|TLS/.test(code))) return 'has no certificate to trust';
  return 'cannot be reached';
}

/** The push server's address: a host means https. */
export function pushServer(server: string): string {
  return server.includes('://') ? server : `https://${server}`;
}

/** The time by the `Date` header of a host that is used already; undefined: none is, or none says. */
export async function remoteTime(at: ConfiguredContext): Promise<{ host: string; ms: number } | undefined> {
  const { push } = at.config.settings.notifications;
  const { apiUrl } = await import('../work/host/token');
  const hosts = [
    ...(at.config.workRepo.repo === undefined ? [] : [apiUrl(at.host.env).href]),
    ...(push.enabled && push.topic.isSet ? [pushServer(push.server)] : []),
  ];
  for (const url of hosts) {
    const told = await askHost(at, url).catch((error: unknown) => {
      if (error instanceof StewardError && error.kind === 'unavailable') return undefined;
      throw error;
    });
    const ms = Date.parse(told?.headers.get('date') ?? '');
    if (!Number.isNaN(ms)) return { host: new URL(url).hostname, ms };
  }
  return undefined;
}
