import { createConnection } from 'node:net';

import { StewardError, errnoCode } from '../../errors';

/** A protocol handler. Sends bytes, and consumes chunks of the response until it can return a value. */
export type Dialogue<T> = (send: (bytes: Uint8Array) => void) => (chunk: Buffer) => T | undefined;

interface LocalSocketOptions {
  path: string;
  /** The server's name in messages, such as "The Wayland display". */
  what: string;
  timeoutMs: number;
  /** Maximum size of the response. A larger one throws `unavailable`. */
  maxBytes: number;
}

/**
 * Runs a protocol handler over a local socket and returns the handler's value. Throws `unavailable` on any
 * failure.
 */
export function converse<T>(options: LocalSocketOptions, dialogue: Dialogue<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ path: options.path });
    let received = 0;
    const settle = (end: () => void): void => {
      clearTimeout(timer);
      socket.destroy();
      end();
    };
    const fail = (reason: string, cause?: unknown): void =>
      settle(() =>
        reject(
          new StewardError('unavailable', `${options.what} (${options.path}) ${reason}.`, {
            hint: 'Run steward from a terminal in the graphical session.',
            cause,
          }),
        ),
      );
    const timer = setTimeout(() => fail(`did not respond within ${options.timeoutMs} ms`), options.timeoutMs);
    const listen = dialogue((bytes) => socket.write(bytes));
    socket.on('data', (chunk) => {
      received += chunk.length;
      if (received > options.maxBytes) return fail('sent too much data');
      try {
        const value = listen(chunk);
        if (value !== undefined) settle(() => resolve(value));
      } catch (error) {
        // A RangeError means that a length field is larger than the message.
        if (error instanceof RangeError) fail('sent invalid data', error);
        else settle(() => reject(error));
      }
    });
    socket.on('error', (error) => fail(`cannot be reached (${errnoCode(error) ?? error.message})`, error));
    socket.on('close', () => fail('closed the connection without a response'));
  });
}

/**
 * Keeps a connection to a local socket open until the signal aborts, and passes on incoming data. Rejects
 * with `unavailable` if the connection fails or ends.
 */
export function listenTo(
  { path, what, signal }: Pick<LocalSocketOptions, 'path' | 'what'> & { signal: AbortSignal },
  dialogue: (send: (bytes: Uint8Array) => void) => (chunk: Buffer) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ path });
    const settle = (error?: unknown): void => {
      signal.removeEventListener('abort', stop);
      socket.destroy();
      if (error === undefined) resolve();
      else reject(error as Error);
    };
    const stop = (): void => settle();
    const fail = (reason: string, cause?: unknown): void =>
      settle(
        new StewardError('unavailable', `${what} (${path}) ${reason}.`, {
          hint: 'Run steward from a terminal in the graphical session.',
          cause,
        }),
      );
    let listen: ReturnType<typeof dialogue> = () => undefined;
    socket.on('connect', () => (listen = dialogue((bytes) => socket.write(bytes))));
    socket.on('data', (chunk) => {
      try {
        listen(chunk);
      } catch (error) {
        if (error instanceof RangeError) fail('sent invalid data', error);
        else settle(error);
      }
    });
    socket.on('error', (error) => fail(`cannot be reached (${errnoCode(error) ?? error.message})`, error));
    socket.on('close', () => fail('closed the connection'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop);
  });
}
