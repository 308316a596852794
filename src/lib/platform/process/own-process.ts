import { errnoCode } from '../../errors';

/** Facts of this process. */
export function ownProcess(): { pid: number; uptimeSec: number } {
  return { pid: process.pid, uptimeSec: Math.round(process.uptime()) };
}

/** Asks another process of this user to end. One that has ended is no error. */
export function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (error) {
    if (errnoCode(error) !== 'ESRCH') throw error;
  }
}

/** Resident memory, MiB with one decimal. The system is asked for it, which takes some 40 µs. */
export function residentMiB(): number {
  return Math.round((process.memoryUsage.rss() / 2 ** 20) * 10) / 10;
}

/** Signals that ask a server to close down: a person's Ctrl-C, a manager's SIGTERM, a terminal that is closed. */
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK'] as const;

/** Calls `stop` at the first such signal; a second Ctrl-C ends the process at once with 130. Returns the way to stop listening. */
export function onStopSignal(stop: (signal: string) => void): () => void {
  let asked = false;
  const heard = (signal: NodeJS.Signals): void => {
    if (asked && signal === 'SIGINT') process.exit(130);
    asked = true;
    stop(signal);
  };
  for (const signal of STOP_SIGNALS) process.on(signal, heard);
  return () => {
    for (const signal of STOP_SIGNALS) process.removeListener(signal, heard);
  };
}

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
