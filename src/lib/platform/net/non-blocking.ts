import { readSync } from 'node:fs';

import { errnoCode } from '../../errors';

/** A local socket of libuv's: the inner part of `node:net`, which takes 5 ms to load. */
export interface PipeHandle {
  /** The descriptor; -1 where there is none, as on Windows. */
  readonly fd: number;
  open(fd: number): number | undefined;
  /** Not 0: it could not even be tried. What became of it is told later, or by the first use of the descriptor. */
  connect(request: object, path: string): number | undefined;
  close(): void;
}

interface PipeBinding {
  Pipe: new (kind: number) => PipeHandle;
  PipeConnectWrap: new () => { oncomplete: () => void };
}

/** An inner part of Node that may go, and is not used on Windows; undefined then. */
function pipeBinding(): PipeBinding | undefined {
  if (process.platform === 'win32') return undefined;
  try {
    const binding = Reflect.get(process, 'binding') as (name: string) => PipeBinding;
    return binding.call(process, 'pipe_wrap');
  } catch {
    // Gone in this version of Node: the callers have another way, slower.
    return undefined;
  }
}

/**
 * Sets a descriptor of a pipe or socket non-blocking: that is what opening it as a pipe of libuv's does. Node has no
 * other way that does not load its streams. False where it is not to be had.
 */
export function makeNonBlocking(fd: number): boolean {
  const binding = pipeBinding();
  if (binding === undefined) return false;
  try {
    return (new binding.Pipe(0).open(fd) ?? 0) === 0;
  } catch {
    // It refuses what is no pipe.
    return false;
  }
}

/**
 * Begins to connect to a local socket, non-blocking. Undefined where that is not to be had; whether somebody is there shows
 * at the first write.
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

/** Bytes read, 0 at the end, undefined when there is nothing now. */
export function tryRead(fd: number, into: Buffer): number | undefined {
  try {
    return readSync(fd, into, 0, into.length, null);
  } catch (error) {
    const code = errnoCode(error);
    if (code === 'EAGAIN') return undefined;
    // Windows says so of a pipe that was closed; a folder has nothing to read.
    if (code === 'EOF' || code === 'EISDIR' || code === 'ECONNRESET') return 0;
    throw error;
  }
}

let sleeper: Int32Array | undefined;

/** Stops this thread for a while. */
export function pause(ms: number): void {
  sleeper ??= new Int32Array(new SharedArrayBuffer(4));
  Atomics.wait(sleeper, 0, 0, ms);
}
