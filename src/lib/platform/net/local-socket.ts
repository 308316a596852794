import { createConnection } from 'node:net';

import { StewardError, errnoCode } from '../../errors';

/** A protocol handler. Sends bytes, and consumes chunks of the response until it can return a value. */
export type Dialogue<T> = (send: (bytes: Uint8Array) => void) => (chunk: Buffer) => T | undefined;

interface LocalSocket {
  path: string;
  /** The server's name in messages, such as "The Wayland display". */
  what: string;
  /** Maximum size of the response. A larger one throws `unavailable`. */
  maxBytes?: number;
}

/**
 * Runs a protocol handler over a local socket and returns the handler's value. Throws `unavailable` on any
 * failure.
 */
export async function converse<T>(
  { timeoutMs, ...server }: LocalSocket & { timeoutMs: number },
  dialogue: Dialogue<T>,
): Promise<T> {
  const value = await listenTo({ ...server, signal: AbortSignal.timeout(timeoutMs) }, dialogue);
  if (value !== undefined) return value;
  throw failed(server, `did not respond within ${timeoutMs} ms`);
}

/**
 * Keeps a connection to a local socket open until the signal aborts, and passes on incoming data. Rejects
 * with `unavailable` if the connection fails or ends.
 */
export function listenTo<T>(
  { signal, ...server }: LocalSocket & { signal: AbortSignal },
  dialogue: Dialogue<T>,
): Promise<T | undefined> {
  const { path, maxBytes = Infinity } = server;
  const socket = createConnection({ path });
  let stop = (): void => undefined;
  return new Promise<T | undefined>((resolve, reject) => {
    const fail = (reason: string, cause?: unknown): void => reject(failed(server, reason, cause));
    let listen: ReturnType<Dialogue<T>> = () => undefined;
    let received = 0;
    socket.on('connect', () => (listen = dialogue((bytes) => socket.write(bytes))));
    socket.on('data', (chunk) => {
      received += chunk.length;
      if (received > maxBytes) return fail('sent too much data');
      try {
        const value = listen(chunk);
        if (value !== undefined) resolve(value);
      } catch (error) {
        // A RangeError means that a length field is larger than the message.
        if (error instanceof RangeError) fail('sent invalid data', error);
        else reject(error as Error);
      }
    });
    socket.on('error', (error) => fail(`cannot be reached (${errnoCode(error) ?? error.message})`, error));
    socket.on('close', () => fail('closed the connection'));
    stop = () => resolve(undefined);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop);
  }).finally(() => {
    signal.removeEventListener('abort', stop);
    socket.destroy();
  });
}

function failed({ what, path }: LocalSocket, reason: string, cause?: unknown): StewardError {
  return new StewardError('unavailable', `${what} (${path}) ${reason}.`, {
    hint: 'Run steward from a terminal in the graphical session.',
    cause,
  });
}
