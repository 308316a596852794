import type { ErrorKind } from '../../errors';

/** Exit codes by error kind, the whole of decisions.md 2. A run that succeeds exits 0. */
export const EXIT_CODES: Readonly<Record<ErrorKind, number>> = {
  internal: 1,
  usage: 2,
  config: 3,
  auth: 4,
  not_found: 5,
  conflict: 6,
  locked: 7,
  unavailable: 8,
  canceled: 130,
};
