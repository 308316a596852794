import { StewardError, errnoCode, type ErrorKind } from '../../errors';
import { clean } from '../../platform/terminal/terminal';

/** What kind of trouble the service, or the way to it, has. */
export type FailureReason =
  | 'offline'
  | 'reset'
  | 'timeout'
  | 'refused'
  | 'unauthenticated'
  | 'forbidden'
  | 'limited'
  | 'missing'
  | 'gone'
  | 'moved'
  | 'rejected'
  | 'trouble'
  | 'garbled';

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
  if (failure === undefined) return true;
  return ['reset', 'timeout', 'trouble', 'garbled'].includes(failure.reason);
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

/** An error of the library as one of ours. What it says of the service's own words is sanitised and short. */
export function hostError(error: unknown, asked: Asked): StewardError {
  const own = ownError(error);
  if (own !== undefined) return own;
  const response = responseOf(error);
  if (response === undefined) return networkError(error, asked);
  const { status, headers } = response;
  const said = wordsOf(response.data);
  const wait = waitOf(headers, asked.nowMs);
  const fail = (kind: ErrorKind, reason: FailureReason, message: string, hint: string): StewardError => {
    const cause: HostFailure = { reason, status, retryAfterSec: wait };
    return new StewardError(kind, message, { hint, cause });
  };
  if (status === 401) {
    return fail(
      'auth',
      'unauthenticated',
      `${asked.host} refuses the credential from ${asked.credential}.`,
      'Run `gh auth login`, or put a valid token into GH_TOKEN.',
    );
  }
  if ((status === 403 || status === 429) && (wait !== null || /rate limit|abuse/i.test(said))) {
    const asks = wait === null ? 'asks to wait' : `asks to wait ${inWords(wait)}`;
    return fail(
      'unavailable',
      'limited',
      `${asked.host} ${asks}: its limit of requests is reached.`,
      'Run it again then; what was read before is still shown.',
    );
  }
  if (status === 403 || status === 451) {
    return fail(
      'auth',
      'forbidden',
      `The credential from ${asked.credential} may not do this with ${asked.what}${quoted(said)}.`,
      'Give it the right to read and write the issues of this repository.',
    );
  }
  if (status === 404) {
    return fail(
      'not_found',
      'missing',
      `${asked.host} has no ${asked.what}, or does not show it to this credential.`,
      'Check the spelling, and that `gh auth status` names the account that may see it.',
    );
  }
  if (status === 410) {
    return fail(
      'not_found',
      'gone',
      `${asked.what} is gone: deleted, or its issues are switched off.`,
      'Switch issues on in the settings of the repository, or name another issue.',
    );
  }
  if (status >= 300 && status < 400) {
    return fail(
      'conflict',
      'moved',
      `${asked.what} has moved; the credential was not sent after it.`,
      'Run `steward work setup OWNER/REPO` with its new name.',
    );
  }
  if (status >= 500) {
    return fail(
      'unavailable',
      'trouble',
      `${asked.host} has trouble (${status}).`,
      'Try again in a few minutes.',
    );
  }
  return fail(
    'conflict',
    'rejected',
    `${asked.host} does not take it (${status})${quoted(said)}.`,
    'Correct what it names.',
  );
}

/** An answer that has another shape than the documented one, or was cut. */
export function garbled(asked: Asked): StewardError {
  const cause: HostFailure = { reason: 'garbled', status: null, retryAfterSec: null };
  return new StewardError('unavailable', `What answers as ${asked.host} does not speak as it should.`, {
    hint: 'Look whether a proxy or a sign-in page stands in between.',
    cause,
  });
}

/** A list that is longer than any is meant to be. Part of it would look like all of it. */
export function endless(asked: Asked, limits: string): StewardError {
  const cause: HostFailure = { reason: 'garbled', status: null, retryAfterSec: null };
  return new StewardError('unavailable', `${asked.host} lists more of ${asked.what} than ${limits}.`, {
    hint: 'Nothing of it was used. Check GITHUB_API_URL and the proxy.',
    cause,
  });
}

/** An error of ours that the library has wrapped. */
function ownError(error: unknown): StewardError | undefined {
  let at: unknown = error;
  while (at instanceof Error) {
    if (at instanceof StewardError) return at;
    at = at.cause;
  }
  return undefined;
}

interface Answer {
  status: number;
  headers: Record<string, string | number | undefined>;
  data: unknown;
}

function responseOf(error: unknown): Answer | undefined {
  if (!(error instanceof Error) || !('response' in error)) return undefined;
  const response = error.response as Partial<Answer> | undefined;
  return typeof response?.status === 'number' ? (response as Answer) : undefined;
}

/** [reason, what happened, what to do] by the system's word for it. */
function networkError(error: unknown, asked: Asked): StewardError {
  const codes = causes(error);
  const [reason, message, hint] = networkWords(codes, asked.host);
  const cause: HostFailure = { reason, status: null, retryAfterSec: null };
  return new StewardError('unavailable', message, { hint, cause });
}

function networkWords(codes: readonly string[], host: string): [FailureReason, string, string] {
  const has = (...names: string[]): boolean => names.some((name) => codes.includes(name));
  if (has('ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH', 'ENETDOWN')) {
    return ['offline', `${host} cannot be reached: this machine is offline.`, 'Connect, then run it again.'];
  }
  if (has('ECONNREFUSED')) {
    return [
      'refused',
      `${host} refuses the connection.`,
      'Check GITHUB_API_URL and the proxy, then run it again.',
    ];
  }
  if (has('TimeoutError', 'ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT')) {
    return ['timeout', `${host} did not answer in time.`, 'Try again in a few minutes.'];
  }
  if (codes.some((code) => /CERT|SELF_SIGNED|ERR_TLS|UNABLE_TO/.test(code))) {
    return [
      'refused',
      `${host} shows a certificate that this machine does not trust.`,
      'Check the clock, and set NODE_EXTRA_CA_CERTS if your network has its own authority.',
    ];
  }
  if (has('TOO_LARGE')) {
    return ['garbled', `${host} sent an answer that is too large.`, 'Check GITHUB_API_URL and the proxy.'];
  }
  return ['reset', `The connection to ${host} broke.`, 'Run it again.'];
}

/** The codes and names of an error and of what caused it. */
function causes(error: unknown): string[] {
  const found: string[] = [];
  let at: unknown = error;
  for (let depth = 0; at instanceof Error && depth < 6; depth += 1) {
    found.push(...[errnoCode(at), at.name].filter((text) => text !== undefined));
    if (at instanceof AggregateError) found.push(...at.errors.map((one) => errnoCode(one) ?? ''));
    at = at.cause;
  }
  return found;
}

/** Seconds until the service wants to be asked again; null when it does not say. */
function waitOf(headers: Answer['headers'], nowMs: number): number | null {
  const after = Number(headers['retry-after']);
  if (Number.isFinite(after) && headers['retry-after'] !== undefined) return Math.max(0, after);
  if (String(headers['x-ratelimit-remaining']) !== '0') return null;
  const reset = Number(headers['x-ratelimit-reset']) * 1000;
  return Number.isFinite(reset) ? Math.max(0, Math.ceil((reset - nowMs) / 1000)) : null;
}

function inWords(seconds: number): string {
  if (seconds < 90) return `${seconds} s`;
  return `${Math.ceil(seconds / 60)} min`;
}

function wordsOf(data: unknown): string {
  if (typeof data !== 'object' || data === null) return '';
  const { message, errors } = data as { message?: unknown; errors?: unknown };
  const list = Array.isArray(errors) ? (errors as unknown[]).slice(0, 3).map(oneError) : [];
  return clean([message, ...list].filter((text) => typeof text === 'string' && text !== '').join('; ')).slice(
    0,
    200,
  );
}

function oneError(error: unknown): string {
  if (typeof error === 'string') return error;
  if (typeof error !== 'object' || error === null) return '';
  const { field, code, message } = error as Record<string, unknown>;
  return [field, code, message].filter((text) => typeof text === 'string').join(' ');
}

function quoted(said: string): string {
  return said === '' ? '' : `: ${said.replace(/\.$/, '')}`;
}
