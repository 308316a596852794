import { createConnection } from 'node:net';

import { StewardError } from '../errors';
import { cookieFor } from './x-authority';

/** An X display, reduced to what can be asked of it here: single properties by name, and the idle time. */
export interface Display {
  root: number;
  /**
   * The raw value of one property of a window (at most 1 KiB); undefined when it is not set. A window that
   * is gone by now has no properties.
   */
  property(window: number, name: string): Promise<Buffer | undefined>;
  /** Milliseconds since the last key, button or motion, of any device. */
  idleMs(): Promise<number>;
}

/** XIDs are 29 bits; `BadWindow` and `BadDrawable` say that a window went away since it was named. */
const GONE = new Set([3, 9]);
const MAX_LONGS = 256;

/**
 * Connects to the X display (`:0`, `host:0.1`), lets `use` ask, and hangs up. The cookie is that of the
 * environment's XAUTHORITY, else of ~/.Xauthority. Throws `unavailable` when the display does not
 * answer, refuses, or the whole takes longer than `timeoutMs`.
 */
export async function withDisplay<T>(
  options: { display: string; env: NodeJS.ProcessEnv; timeoutMs: number },
  use: (display: Display) => Promise<T>,
): Promise<T> {
  const x11 = await import('x11');
  // Our own stream and cookie: where a socket is missing or ~/.Xauthority cannot be read, the library throws
  // from a callback, which nobody can catch.
  const { display } = options;
  const address = addressOf(display);
  const stream = createConnection(address);
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<T>((resolve, reject) => {
      const fail = (error: unknown): void => reject(unreachable(display, reasonOf(error), error));
      timer = setTimeout(() => fail(new Error(`no answer in ${options.timeoutMs} ms`)), options.timeoutMs);
      stream.once('error', fail);
      stream.once('close', () => fail(new Error('it closed the connection')));
      stream.once('connect', () => {
        const remote = address.path === undefined ? stream.remoteAddress : undefined;
        const auth = cookieFor(options.env, { number: address.number, remote }) ?? { name: '', data: '' };
        const client = x11.createClient(
          { display, stream, auth, disableBigRequests: true },
          (error, found) => {
            if (error) fail(error);
            else use(displayOf(found)).then(resolve, reject);
          },
        );
        client.on('error', fail);
      });
    });
  } finally {
    clearTimeout(timer);
    stream.destroy();
  }
}

const FIRST_PORT = 6000;

/** `[unix][:host]:number[.screen]`: a local socket, or a port of a host. */
function addressOf(
  display: string,
): { number: number; path: string } | { number: number; path?: undefined; host: string; port: number } {
  const found = /^(?:(.*)\/)?([^/]*):(\d{1,5})(?:\.\d+)?$/.exec(display);
  const number = Number(found?.[3]);
  if (found === null || FIRST_PORT + number > 0xffff) {
    throw new StewardError('unavailable', `DISPLAY is "${display}", which names no X display.`, {
      hint: 'It looks like ":0"; take the value of a terminal of the graphical session.',
    });
  }
  const host = found[2] ?? '';
  const isLocal = host === '' || host === 'unix';
  return isLocal
    ? { number, path: `/tmp/.X11-unix/X${number}` }
    : { number, host, port: FIRST_PORT + number };
}

function displayOf(display: import('x11').XDisplay): Display {
  const { client, screen } = display;
  const root = screen[0]?.root ?? 0;
  // The library remembers atoms for the whole process, but each server numbers its own: with those of another
  // server (or of this one before it was started anew) we would ask for properties that we never named.
  client.atoms = {};
  client.atom_names = {};
  return {
    root,
    async property(window, name) {
      const atom = await answer<number>((done) => client.InternAtom(true, name, done));
      if (atom === undefined || atom === 0) return undefined;
      const found = await answer<import('x11').Property>((done) =>
        client.GetProperty(0, window, atom, 0, 0, MAX_LONGS, done),
      );
      return found === undefined || found.type === 0 ? undefined : found.data;
    },
    async idleMs() {
      const saver = await answer<import('x11').ScreenSaver>((done) => client.require('screen-saver', done));
      const info = await answer<{ idle: number }>((done) => saver?.QueryInfo(root, done));
      if (info === undefined) throw new StewardError('unavailable', 'The X display gives no idle time.');
      return info.idle;
    },
  };
}

/** One reply; undefined when the window it is about is gone. */
function answer<T>(
  ask: (done: (error: Error | null | undefined, value: T) => true) => void,
): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    ask((error, value) => {
      if (!error) resolve(value);
      else if ('error' in error && GONE.has(Number(error.error))) resolve(undefined);
      else
        reject(new StewardError('unavailable', `The X display answered: ${error.message}`, { cause: error }));
      return true;
    });
  });
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  const message = error instanceof Error ? error.message : String(error);
  if (code !== undefined || message === '') return code ?? 'no reason given';
  return message.replace(/\s+/g, ' ').trim().replace(/\.$/, '');
}

function unreachable(display: string, reason: string, cause?: unknown): StewardError {
  return new StewardError('unavailable', `The X display ${display} does not answer: ${reason}.`, {
    hint: 'Check DISPLAY and XAUTHORITY where steward runs: a job needs those of the graphical session.',
    cause,
  });
}
