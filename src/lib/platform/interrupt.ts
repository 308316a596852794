/** A signal that Ctrl-C, or a polite end of the process, aborts: for a command that closes down by itself. */
export function interruptSignal(): { signal: AbortSignal; release: () => void } {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  const names = ['SIGINT', 'SIGTERM'] as const;
  for (const name of names) process.on(name, abort);
  return {
    signal: controller.signal,
    release() {
      for (const name of names) process.off(name, abort);
    },
  };
}

/** Calls the listener at each Ctrl-C, which then does not end the run by itself. Returns how to stop listening. */
export function onInterrupt(listener: () => void): () => void {
  process.on('SIGINT', listener);
  return () => {
    process.off('SIGINT', listener);
  };
}
