import { StewardError, errnoCode, type ErrorKind } from '../../errors';
import { clean } from '../../platform/terminal/terminal';

/** What kind of trouble the service, or the way to it, has. */
export type FailureReason =
  | 'offline' | 'reset' | 'timeout' | 'refused' | 'unauthenticated' | 'forbidden' | 'limited' | 'missing' | 'gone'
  | 'moved' | 'rejected' | 'trouble' | 'garbled'; // prettier-ignore

/** The cause of an error of the host, for those who act on it. */
export interface HostFailure {
  reason: FailureReason;
  /** HTTP status; null without an answer. */
  status: number | null;
  /** How long the service asks to wait, seconds. */
  retryAfterSec: number | null;
}

/** The failure behind an error of the host; undefined of every other error. */
export function failureOf(error: unknown): HostFailure | undefined {
  if (!(error instanceof StewardError)) return undefined;
  const cause = error.cause as Partial<HostFailure> | undefined;
  return typeof cause?.reason === 'string' ? (cause as HostFailure) : undefined;
}

/** May a write that ended so have taken effect? */
export function isAmbiguous(error: unknown): boolean {
  const failure = failureOf(error);
  return failure === undefined || ['reset', 'timeout', 'trouble', 'garbled'].includes(failure.reason);
}

/** Was the issue, or the repository, not there? */
export function isGone(error: unknown): boolean {
  const reason = failureOf(error)?.reason;
  return reason === 'missing' || reason === 'gone';
}

/** What was asked for, for the words of an error. */
export interface Asked {
  /** `api.github.com` */
  host: string;
  /** `ann/work`, or `#12 of ann/work`. */
  what: string;
  /** Where the credential comes from. */
  credential: string;
  nowMs: number;
}

interface Words {
  kind: ErrorKind;
  reason: FailureReason;
  message: string;
  hint: string;
}

/** An error of the library as one of ours. What it says of the service's own words is sanitised and short. */
export function hostError(error: unknown, asked: Asked): StewardError {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof StewardError) return at;
  const response = responseOf(error);
  if (response === undefined) return failed(networkWords(causes(error), asked.host));
  const wait = waitOf(response.headers, asked.nowMs);
  return failed(answerWords(response.status, wordsOf(response.data), wait, asked), response.status, wait);
}

/** An answer that has another shape than the documented one, or was cut. */
export function garbled({ host }: Asked): StewardError {
  return failed({
    kind: 'unavailable',
    reason: 'garbled',
    message: `Unexpected response from ${host}.`,
    hint: 'Look whether a proxy or a sign-in page stands in between.',
  });
}

/** A list that is longer than any is meant to be. Part of it would look like all of it. */
export function endless({ host, what }: Asked, limits: string): StewardError {
  return failed({
    kind: 'unavailable',
    reason: 'garbled',
    message: `${host} lists more of ${what} than ${limits}.`,
    hint: 'Nothing of it was used. Check GITHUB_API_URL and the proxy.',
  });
}

function failed(
  { kind, reason, message, hint }: Words,
  status: number | null = null,
  retryAfterSec: number | null = null,
): StewardError {
  return new StewardError(kind, message, { hint, cause: { reason, status, retryAfterSec } });
}

function answerWords(status: number, said: string, wait: number | null, asked: Asked): Words {
  const { host, what, credential } = asked;
  const words = (kind: ErrorKind, reason: FailureReason, message: string, hint: string): Words => ({
    kind,
    reason,
    message,
    hint,
  });
  const quoted = said === '' ? '' : `: ${said.replace(/\.$/, '')}`;
  if (status === 401) {
    const message = `${host} refuses the credential from ${credential}.`;
    return words(
      'auth',
      'unauthenticated',
      message,
      'Run `gh auth login`, or put a valid token into GH_TOKEN.',
    );
  }
  if ((status === 403 || status === 429) && (wait !== null || /rate limit|abuse/i.test(said))) {
    const time = wait === null ? '' : wait < 90 ? ` ${wait} s` : ` ${Math.ceil(wait / 60)} min`;
    const message = `${host} asks to wait${time}: its request limit is reached.`;
    return words('unavailable', 'limited', message, 'Run it again then; cached data is still shown.');
  }
  if (status === 403 || status === 451) {
    const message = `The credential from ${credential} may not do this with ${what}${quoted}.`;
    return words('auth', 'forbidden', message, 'Allow it to read and write the issues of this repository.');
  }
  if (status === 404) {
    const message = `${host} has no ${what}, or does not show it to this credential.`;
    const hint = 'Check the spelling, and that `gh auth status` names the account that may see it.';
    return words('not_found', 'missing', message, hint);
  }
  if (status === 410) {
    const message = `${what} is gone: deleted, or its issues are switched off.`;
    const hint = 'Switch issues on in the settings of the repository, or name another issue.';
    return words('not_found', 'gone', message, hint);
  }
  if (status >= 300 && status < 400) {
    const message = `${what} has moved; the credential was not sent after it.`;
    return words('conflict', 'moved', message, 'Run `steward work setup OWNER/REPO` with its new name.');
  }
  if (status >= 500)
    return words('unavailable', 'trouble', `${host} has trouble (${status}).`, 'Try again in a few minutes.');
  return words('conflict', 'rejected', `${host} rejects it (${status})${quoted}.`, 'Correct what it names.');
}

interface Answer {
  status: number;
  headers: Record<string, string | number | undefined>;
  data: unknown;
}

function responseOf(error: unknown): Answer | undefined {
  if (!(error instanceof Error) || !('response' in error)) return undefined;
  const response = error.response as Partial<Answer> | undefined;
  if (typeof response?.status !== 'number') return undefined;
  return { status: response.status, headers: response.headers ?? {}, data: response.data };
}

function networkWords(codes: readonly string[], host: string): Words {
  const has = (...names: string[]): boolean => names.some((name) => codes.includes(name));
  const words = (reason: FailureReason, message: string, hint: string): Words => ({
    kind: 'unavailable',
    reason,
    message,
    hint,
  });
  if (has('ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH', 'ENETDOWN'))
    return words(
      'offline',
      `${host} cannot be reached: this machine is offline.`,
      'Connect, then run it again.',
    );
  if (has('ECONNREFUSED')) {
    const hint = 'Check GITHUB_API_URL and the proxy, then run it again.';
    return words('refused', `${host} refuses the connection.`, hint);
  }
  if (has('TimeoutError', 'ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT'))
    return words('timeout', `${host} did not answer in time.`, 'Try again in a few minutes.');
  if (codes.some((code) => /CERT|SELF_SIGNED|ERR_TLS|UNABLE_TO/.test(code))) {
    const hint = 'Check the clock, and set NODE_EXTRA_CA_CERTS if your network has its own authority.';
    return words('refused', `${host} shows a certificate that this machine does not trust.`, hint);
  }
  if (has('TOO_LARGE')) {
    const hint = 'Check GITHUB_API_URL and the proxy.';
    return words('garbled', `${host} sent an answer that is too large.`, hint);
  }
  return words('reset', `The connection to ${host} broke.`, 'Run it again.');
}

/** The codes and names of an error and of what caused it. */
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

/** Seconds until the service wants to be asked again; null when it does not say. */
function waitOf(headers: Answer['headers'], nowMs: number): number | null {
  const after = Number(headers['retry-after']);
  if (Number.isFinite(after) && headers['retry-after'] !== undefined) return Math.max(0, after);
  if (String(headers['x-ratelimit-remaining']) !== '0') return null;
  const reset = Number(headers['x-ratelimit-reset']) * 1000;
  return Number.isFinite(reset) ? Math.max(0, Math.ceil((reset - nowMs) / 1000)) : null;
}

function wordsOf(data: unknown): string {
  if (typeof data !== 'object' || data === null) return '';
  const { message, errors } = data as { message?: unknown; errors?: unknown };
  const list = Array.isArray(errors) ? (errors as unknown[]).slice(0, 3) : [];
  const one = (error: unknown): string => {
    if (typeof error !== 'object' || error === null) return typeof error === 'string' ? error : '';
    const { field, code, message: said } = error as Record<string, unknown>;
    return [field, code, said].filter((text) => typeof text === 'string').join(' ');
  };
  const all = [typeof message === 'string' ? message : '', ...list.map(one)];
  return clean(all.filter((text) => text !== '').join('; ')).slice(0, 200);
}
