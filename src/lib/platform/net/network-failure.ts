import { StewardError, errnoCode } from '../../errors';

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
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'is not known: no address was found for it';
  if (code === 'ECONNREFUSED') return 'refused the connection';
  if (BROKEN.has(code)) {
    return 'closed the connection before its answer was whole';
  }
  if (code === 'TOO_LARGE') return 'sent an answer that is too large';
  // The port is one of plain HTTP, or of something else.
  if (/^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)$/.test(code)) {
    return `does not speak TLS, which https needs (${code})`;
  }
  if (code.startsWith('HPE_') || code === 'HTTPParserError') return `does not speak HTTP (${code})`;
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO/.test(code)) return `has no certificate to trust (${code})`;
  return `cannot be reached (${code})`;
}

const BROKEN = new Set([
  'ECONNRESET',
  'EPIPE',
  'UND_ERR_SOCKET',
  'UND_ERR_ABORTED',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
]);
