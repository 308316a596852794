import { errorBody, toStewardError, type ErrorKind } from '../errors';
import type { HttpAnswer } from '../platform/net/http-application';
import { cleanLines } from '../platform/terminal/terminal';

/** HTTP statuses by error kind, the whole of decisions.md 2. */
export const HTTP_STATUS: Readonly<Record<ErrorKind, number>> = {
  usage: 400,
  config: 500,
  auth: 401,
  not_found: 404,
  conflict: 409,
  locked: 423,
  unavailable: 503,
  canceled: 499,
  internal: 500,
};

/** Sent with every answer: nobody else may embed or read it, and nobody guesses its type. */
export const SAFE_HEADERS = [
  'x-content-type-options',
  'nosniff',
  'cross-origin-resource-policy',
  'same-origin',
  'referrer-policy',
  'no-referrer',
] as const;

/** Of what is no page: should a browser show it, it loads and runs nothing, and stands in nobody's frame. */
export const DATA_POLICY = ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"] as const;

export const JSON_HEADERS: readonly string[] = [
  'content-type',
  'application/json; charset=utf-8',
  ...SAFE_HEADERS,
  ...DATA_POLICY,
];

/** An answer of the protocol itself, in the one shape of an error (decisions.md 2). */
export function refusal(
  status: number,
  kind: ErrorKind,
  message: string,
  hint: string,
  headers: readonly string[] = [],
): HttpAnswer {
  return {
    status,
    headers: [...JSON_HEADERS, 'cache-control', 'no-store', ...headers],
    body: `${JSON.stringify({ error: { kind, message, hint } })}\n`,
  };
}

/** Any thrown value as an answer. What nobody foresaw is told in the log, not to whoever asks. */
export function errorAnswer(thrown: unknown): HttpAnswer {
  const known = toStewardError(thrown);
  if (known.kind === 'internal') {
    return refusal(500, 'internal', 'Something went wrong in steward.', 'See "steward daemon logs".');
  }
  const { error } = errorBody(known);
  const shown = {
    ...error,
    message: cleanLines(error.message),
    ...(error.hint === undefined ? {} : { hint: cleanLines(error.hint) }),
  };
  return {
    status: HTTP_STATUS[known.kind],
    headers: [...JSON_HEADERS, 'cache-control', 'no-store'],
    body: `${JSON.stringify({ error: shown })}\n`,
  };
}
