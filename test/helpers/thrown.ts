import { StewardError } from '../../src/lib/errors';

/** The error that the function throws; one that returns fails the test. */
export function thrown(work: () => unknown): StewardError {
  try {
    work();
  } catch (error) {
    if (error instanceof StewardError) return error;
    throw error;
  }
  throw new Error('expected an error');
}
