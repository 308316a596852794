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

/** The error that the promise is rejected with; a promise that holds fails the test. */
export async function rejection(promise: Promise<unknown>): Promise<StewardError> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    if (error instanceof StewardError) return error;
    throw error;
  }
  throw new Error(`expected a rejection, but got ${JSON.stringify(value)}`);
}

/** What is said to somebody whose work is refused: the kind, the message and the hint. */
export async function refusalOf(work: Promise<unknown>): Promise<[string, string, string | undefined]> {
  const { kind, message, hint } = await rejection(work);
  return [kind, message, hint];
}
