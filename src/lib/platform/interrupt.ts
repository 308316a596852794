/** Calls the listener at each Ctrl-C, which then does not end the run by itself. Returns how to stop listening. */
export function onInterrupt(listener: () => void): () => void {
  process.on('SIGINT', listener);
  return () => {
    process.off('SIGINT', listener);
  };
}
