import { errnoCode, StewardError, toStewardError } from '../../errors';
import { readText } from '../../platform/files/atomic-file';
import { markOfTarget } from '../../platform/files/stat';
import { termFinder, type FindTerms } from './term-match';
import { parseTerms } from './terms';

/** The principal's pronunciations as they are now. */
export interface Pronunciations {
  findTerms: FindTerms;
  /** What keeps the file from being read; `findTerms` is then of the last good one, or finds nothing. */
  problem?: StewardError;
}

const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Follows a pronunciation file: each call looks whether it has changed, and reads it if so. A file that cannot
 * be read or is broken is told in the answer, and the last good one stays in use. No file: no terms.
 *
 * @returns never throws
 */
export function pronunciationFile(path: string): () => Pronunciations {
  let read: { mark: string | undefined; answer: Pronunciations } | undefined;
  return () => {
    let mark: string | undefined;
    try {
      mark = markOfTarget(path);
      if (read?.mark === mark && read !== undefined) return read.answer;
      const text = mark === undefined ? undefined : readText(path, { followLink: true, maxBytes: MAX_BYTES });
      const findTerms = text === undefined ? NOTHING : termFinder(parseTerms(text, path));
      read = { mark, answer: { findTerms } };
    } catch (error) {
      const problem = named(error, path);
      read = { mark, answer: { findTerms: read?.answer.findTerms ?? NOTHING, problem } };
    }
    return read.answer;
  };
}

const NOTHING: FindTerms = () => [];

function named(error: unknown, path: string): StewardError {
  if (error instanceof StewardError) return error;
  if (errnoCode(error) === undefined) throw error;
  const { kind, message, hint } = toStewardError(error);
  const whole = message.includes(path) ? message : `${message}: ${path}`;
  return new StewardError(kind, `${whole}.`, { ...(hint === undefined ? {} : { hint }), cause: error });
}
