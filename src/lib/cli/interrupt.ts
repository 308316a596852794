import type { StewardError } from '../errors';
import { onInterrupt } from '../platform/process/own-process';

/** Waits for `work`; throws the error at once on Ctrl-C. */
export function unlessInterrupted<T>(work: Promise<T>, error: () => StewardError): Promise<T> {
  let release = (): void => undefined;
  const interrupted = new Promise<never>((_, reject) => {
    release = onInterrupt(() => reject(error()));
  });
  return Promise.race([work, interrupted]).finally(release);
}
