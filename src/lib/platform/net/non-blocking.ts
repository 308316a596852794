import { readSync } from 'node:fs';

import { errnoCode } from '../../errors';

/** A local socket handle of libuv, used directly because `node:net` takes 5 ms to load. */
interface PipeHandle {
  /** The file descriptor, or -1 on Windows. */
  readonly fd: number;
  open(fd: number): number | undefined;
  /**
   * Starts connecting; returns a nonzero code on failure. Some errors appear only on the first read or write.
   */
  connect(request: object, path: string): number | undefined;
  close(): void;
}

interface PipeBinding {
  Pipe: new (kind: number) => PipeHandle;
  PipeConnectWrap: new () => { oncomplete: () => void };
}

function pipeBinding(): PipeBinding | undefined {
  if (process.platform === 'win32') return undefined;
  try {
    const binding = Reflect.get(process, 'binding') as (name: string) => PipeBinding;
    return binding.call(process, 'pipe_wrap');
  } catch {
    return undefined;
  }
}

/**
 * Makes a pipe or socket non-blocking by opening it as a libuv pipe; returns false if that fails. Doesn't
 * load Node's streams.
 */
export function makeNonBlocking(fd: number): boolean {
  const binding = pipeBinding();
  if (binding === undefined) return false;
  try {
    return (new binding.Pipe(0).open(fd) ?? 0) === 0;
  } catch {
    return false;
  }
}

/**
 * Starts a non-blocking connection to a local socket; returns undefined if that fails. Connection errors
 * appear on the first write.
 */
export function connectLocal(path: string): PipeHandle | undefined {
  const binding = pipeBinding();
  if (binding === undefined) return undefined;
  const pipe = new binding.Pipe(0);
  const request = new binding.PipeConnectWrap();
  request.oncomplete = () => undefined;
  if ((pipe.connect(request, path) ?? 0) === 0 && pipe.fd >= 0) return pipe;
  pipe.close();
  return undefined;
}

/**
 * Returns the number of bytes read. Returns 0 at the end of the input, and undefined if no data is available
 * yet.
 */
export function tryRead(fd: number, into: Buffer): number | undefined {
  try {
    return readSync(fd, into, 0, into.length, null);
  } catch (error) {
    const code = errnoCode(error);
    if (code === 'EAGAIN') return undefined;
    // On Windows, reading from a closed pipe fails with EOF. If stdin is a folder, reading fails with EISDIR
    // and counts as empty input.
    if (code === 'EOF' || code === 'EISDIR' || code === 'ECONNRESET') return 0;
    throw error;
  }
}

let sleeper: Int32Array | undefined;

/** Blocks this thread for `ms`. */
export function pause(ms: number): void {
  sleeper ??= new Int32Array(new SharedArrayBuffer(4));
  Atomics.wait(sleeper, 0, 0, ms);
}
