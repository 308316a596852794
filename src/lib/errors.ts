import { constants } from 'node:os';

import SYSTEM_ERRORS from '../../templates/data/system-errors.json';

/** The error kinds, each with its exit code and HTTP status. */
const KINDS = {
  usage: [2, 400],
  config: [3, 500],
  auth: [4, 401],
  not_found: [5, 404],
  conflict: [6, 409],
  locked: [7, 423],
  unavailable: [8, 503],
  canceled: [130, 499],
  internal: [1, 500],
} as const;

export type ErrorKind = keyof typeof KINDS;

export const ERROR_KINDS = Object.keys(KINDS) as ErrorKind[];
export const EXIT_CODES = columnOf(0);
export const HTTP_STATUS = columnOf(1);

function columnOf(index: 0 | 1): Readonly<Record<ErrorKind, number>> {
  const column = ERROR_KINDS.map((kind) => [kind, KINDS[kind][index]]);
  return Object.fromEntries(column) as Record<ErrorKind, number>;
}

/** An error that says what failed (`message`) and what to do (`hint`). */
export class StewardError extends Error {
  override readonly name = 'StewardError';
  readonly kind: ErrorKind;
  readonly hint: string | undefined;

  constructor(kind: ErrorKind, message: string, detail: { hint?: string | undefined; cause?: unknown } = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
    this.kind = kind;
    this.hint = detail.hint;
  }
}

/** The form of an error in JSON output and HTTP responses. */
export interface ErrorBody {
  error: { kind: ErrorKind; message: string; hint?: string };
}

export function errorBody(error: unknown): ErrorBody {
  const { kind, message, hint } = toStewardError(error);
  return { error: { kind, message, ...(hint !== undefined && { hint }) } };
}

/**
 * Converts any thrown value to a StewardError. Explains system errors. An abort becomes `canceled`; any other
 * error becomes `internal`.
 */
export function toStewardError(error: unknown): StewardError {
  if (error instanceof StewardError) return error;
  if (error instanceof Error && error.name === 'AbortError') {
    return new StewardError('canceled', 'Interrupted.', { hint: 'Rerun the command.', cause: error });
  }
  const code = errnoCode(error);
  const path = error instanceof Error && 'path' in error ? String(error.path) : undefined;
  const known = SYSTEM_ERRORS.find(({ codes }) => code !== undefined && codes.includes(code));
  if (known !== undefined) {
    const { kind, text, hint } = known;
    return new StewardError(kind as ErrorKind, path === undefined ? text : `${text}: ${path}`, {
      hint,
      cause: error,
    });
  }
  const message = error instanceof Error ? error.message : String(error);
  return new StewardError('internal', message, { cause: error });
}

/** Converts an error to a StewardError. Rethrows it if it is internal, so that no caller hides a bug. */
export function throwIfBug(error: unknown): StewardError {
  const known = toStewardError(error);
  if (known.kind === 'internal') throw error;
  return known;
}

type Expected = ErrorKind | ((error: unknown) => boolean);

/** Returns a handler for `catch` that returns undefined for expected errors, and throws the others. */
export function undefinedIf(expected: Expected): (error: unknown) => undefined {
  return (error) => {
    if (typeof expected === 'string' ? toStewardError(error).kind !== expected : !expected(error))
      throw error;
  };
}

/**
 * Returns the result of `work`, or `fallback` after an expected error, such as a read-only disk, which is
 * passed to `note`.
 */
export function orElse<T>(fallback: T, work: () => T, note?: (error: StewardError) => void): T {
  try {
    return work();
  } catch (error) {
    const known = throwIfBug(error);
    note?.(known);
    return fallback;
  }
}

/** Throws if there are failures. Combines several failures into one error with all messages and hints. */
export function throwAll(failures: readonly unknown[]): void {
  const [first, ...more] = failures.map(toStewardError);
  if (first === undefined) return;
  if (more.length === 0) throw failures[0];
  const { kind } = more.find((error) => error.kind === 'internal') ?? first;
  const lines = [first, ...more].flatMap(({ message, hint }) =>
    hint === undefined ? message : [message, hint],
  );
  throw new StewardError(kind, [...new Set(lines)].join('\n'), { cause: failures[0] });
}

/** Returns the code of a system error, such as `ENOENT`. */
export function errnoCode(error: unknown): string | undefined {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) return undefined;
  // Node.js has no names for some system errors, such as EDQUOT; their codes contain only the number.
  const number = /^Unknown system error -(\d+)$/.exec(error.code)?.[1];
  if (number === undefined) return error.code;
  const named = Object.entries(constants.errno).find(([, value]) => value === Number(number));
  return named?.[0] ?? error.code;
}

/** Returns the result of `work`, or undefined if it throws a system error with one of these codes, or of one of these kinds. */
export function unless<T>(codes: readonly string[], work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (codes.includes(errnoCode(error) ?? toStewardError(error).kind)) return undefined;
    throw error;
  }
}

/**
 * Replaces a hint about STEWARD_HOME if the error is about `folder`, which doesn't depend on this variable.
 */
export function withOwnHint(error: unknown, folder: string, hint: string): unknown {
  const known = toStewardError(error);
  if (!known.message.includes(folder) || known.hint?.includes('STEWARD_HOME') !== true) return error;
  return new StewardError(known.kind, known.message, { hint, cause: error });
}
