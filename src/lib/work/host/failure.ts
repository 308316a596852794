import { StewardError, errnoCode, type ErrorKind } from '../../errors';
import { clean } from '../../platform/terminal/terminal';

type FailureReason =
  | 'offline' | 'reset' | 'timeout' | 'refused' | 'unauthenticated' | 'forbidden' | 'limited' | 'missing' | 'gone'
  | 'moved' | 'rejected' | 'trouble' | 'garbled'; // prettier-ignore

/** The cause of a host error, for callers that handle specific causes. */
export interface HostFailure {
  reason: FailureReason;
  /** The HTTP status, or `null` if there was no response. */
  status: number | null;
  /** How long the service asks clients to wait, in seconds. */
  retryAfterSec: number | null;
}

export function failureOf(error: unknown): HostFailure | undefined {
  if (!(error instanceof StewardError)) return undefined;
  const cause = error.cause as Partial<HostFailure> | undefined;
  return typeof cause?.reason === 'string' ? (cause as HostFailure) : undefined;
}

/** Returns whether a write may have taken effect even though it failed. */
export function isAmbiguous(error: unknown): boolean {
  const failure = failureOf(error);
  return failure === undefined || ['reset', 'timeout', 'trouble', 'garbled'].includes(failure.reason);
}

/** Returns whether the error means that the issue or the repository doesn't exist. */
export function isGone(error: unknown): boolean {
  const reason = failureOf(error)?.reason;
  return reason === 'missing' || reason === 'gone';
}

/** Details of a request, for error messages. */
export interface Asked {
  /** The host name, such as `api.github.com`. */
  host: string;
  /** The requested resource, such as `ann/work` or `#12 in ann/work`. */
  what: string;
  /** The source of the credential, such as `GH_TOKEN`. */
  credential: string;
  nowMs: number;
}

type Words = [kind: ErrorKind, reason: FailureReason, message: string, hint: string];

const AGAIN = 'Try again in a few minutes.';
const CHECK_ADDRESS = 'Check GITHUB_API_URL and the proxy.';

export function hostError(error: unknown, asked: Asked): StewardError {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof StewardError) return at;
  const response = responseOf(error);
  if (response === undefined) return failed(networkWords(causes(error), asked.host));
  const wait = retryAfterSec(response.headers, asked.nowMs);
  return failed(responseWords(response.status, messageOf(response.data), wait, asked), response.status, wait);
}

/** Returns the error for a truncated or malformed response. */
export function garbled({ host }: Asked): StewardError {
  const hint = 'Check whether a proxy or a sign-in page intercepts requests.';
  return failed(['unavailable', 'garbled', `Unexpected response from ${host}.`, hint]);
}

/**
 * Returns the error for a list that exceeds the limits. The list is discarded, because callers could mistake
 * a partial list for a complete list.
 */
export function tooLong({ host, what }: Asked, limit: string): StewardError {
  const message = `The list for ${what} on ${host} exceeds ${limit}.`;
  return failed(['unavailable', 'garbled', message, `The list was discarded. ${CHECK_ADDRESS}`]);
}

function failed(
  [kind, reason, message, hint]: Words,
  status: number | null = null,
  retryAfterSec: number | null = null,
): StewardError {
  return new StewardError(kind, message, { hint, cause: { reason, status, retryAfterSec } });
}

function responseWords(status: number, serviceMessage: string, wait: number | null, asked: Asked): Words {
  const { host, what, credential } = asked;
  const quoted = serviceMessage === '' ? '' : `: ${serviceMessage.replace(/\.$/, '')}`;
  if (status === 401) {
    const hint = 'Run `gh auth login`, or set GH_TOKEN to a valid token.';
    return ['auth', 'unauthenticated', `${host} rejected the credential from ${credential}.`, hint];
  }
  if ((status === 403 || status === 429) && (wait !== null || /rate limit|abuse/i.test(serviceMessage))) {
    const time = wait === null ? 'later' : wait < 90 ? `in ${wait} s` : `in ${Math.ceil(wait / 60)} min`;
    const message = `Rate limit exceeded on ${host}; retry ${time}.`;
    return ['unavailable', 'limited', message, 'Until then, steward shows cached data.'];
  }
  if (status === 403 || status === 451) {
    const message = `The credential from ${credential} has no access to ${what}${quoted}.`;
    return [
      'auth',
      'forbidden',
      message,
      "Grant the credential read and write access to the repository's issues.",
    ];
  }
  if (status === 404) {
    const message = `${what} not found on ${host}, or not visible to this credential.`;
    return ['not_found', 'missing', message, 'Check the name and your account (`gh auth status`).'];
  }
  if (status === 410) {
    const hint = "Enable issues in the repository's settings, or choose another issue.";
    return ['not_found', 'gone', `${what} was deleted, or its issues are disabled.`, hint];
  }
  if (status >= 300 && status < 400) {
    const message = `${what} has moved; the credential was not sent to the new URL.`;
    return ['conflict', 'moved', message, 'Run `steward work setup OWNER/REPO` with the new name.'];
  }
  if (status >= 500) return ['unavailable', 'trouble', `Server error ${status} from ${host}.`, AGAIN];
  const message = `${host} rejected the request (${status})${quoted}.`;
  return ['conflict', 'rejected', message, 'Correct the value and try again.'];
}

interface Response {
  status: number;
  headers: Record<string, string | number | undefined>;
  data: unknown;
}

function responseOf(error: unknown): Response | undefined {
  if (!(error instanceof Error) || !('response' in error)) return undefined;
  const response = error.response as Partial<Response> | undefined;
  if (typeof response?.status !== 'number') return undefined;
  return { status: response.status, headers: response.headers ?? {}, data: response.data };
}

function networkWords(codes: readonly string[], host: string): Words {
  const has = (...names: string[]): boolean => names.some((name) => codes.includes(name));
  if (has('ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH', 'ENETDOWN')) {
    const message = `Cannot reach ${host}: this machine is offline.`;
    return ['unavailable', 'offline', message, 'Connect to a network and try again.'];
  }
  if (has('ECONNREFUSED'))
    return ['unavailable', 'refused', `${host} refused the connection.`, CHECK_ADDRESS];
  if (has('TimeoutError', 'ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT'))
    return ['unavailable', 'timeout', `${host} did not respond in time.`, AGAIN];
  if (codes.some((code) => /CERT|SELF_SIGNED|ERR_TLS|UNABLE_TO/.test(code))) {
    const hint =
      'Check the system clock. If your network uses its own certificate authority, set NODE_EXTRA_CA_CERTS.';
    return ['unavailable', 'refused', `This machine does not trust the certificate of ${host}.`, hint];
  }
  if (has('TOO_LARGE'))
    return ['unavailable', 'garbled', `The response from ${host} is too large.`, CHECK_ADDRESS];
  return ['unavailable', 'reset', `The connection to ${host} was lost.`, 'Try again.'];
}

function causes(error: unknown): string[] {
  const found: (string | undefined)[] = [];
  let at: unknown = error;
  for (let depth = 0; at instanceof Error && depth < 6; depth += 1) {
    found.push(errnoCode(at), at.name);
    if (at instanceof AggregateError) found.push(...at.errors.map(errnoCode));
    at = at.cause;
  }
  return found.filter((text) => text !== undefined);
}

function retryAfterSec(headers: Response['headers'], nowMs: number): number | null {
  const after = Number(headers['retry-after']);
  if (Number.isFinite(after)) return Math.max(0, after);
  if (String(headers['x-ratelimit-remaining']) !== '0') return null;
  const reset = Number(headers['x-ratelimit-reset']) * 1000;
  return Number.isFinite(reset) ? Math.max(0, Math.ceil((reset - nowMs) / 1000)) : null;
}

function messageOf(data: unknown): string {
  if (typeof data !== 'object' || data === null) return '';
  const { message, errors } = data as { message?: unknown; errors?: unknown };
  const details = (Array.isArray(errors) ? (errors as unknown[]) : []).slice(0, 3).map((detail) => {
    if (typeof detail !== 'object' || detail === null) return detail;
    const { field, code, message: text } = detail as Record<string, unknown>;
    return [field, code, text].filter((part) => typeof part === 'string').join(' ');
  });
  const parts = [message, ...details].filter((part) => typeof part === 'string' && part !== '');
  return clean(parts.join('; ')).slice(0, 200);
}
