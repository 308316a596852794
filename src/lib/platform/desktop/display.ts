import { createConnection } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';

import { StewardError } from '../../errors';
import { readSystemBytes } from '../files/system-files';
import { aborted } from '../time/wait';

/** X errors for a window that no longer exists: `BadWindow` and `BadDrawable`. */
const GONE = new Set([3, 9]);
/** Special values in the GetInputFocus reply: None and PointerRoot. */
const NO_FOCUS = 0;
const POINTER_ROOT = 1;
/** Maximum number of ancestors. No toolkit nests windows this deeply. */
const MAX_LEVELS = 32;
const MAX_LONGS = 256;
const PROPERTY_CHANGE = 0x400000;

/**
 * Connects to an X display (`:0`, `host:0.1`), runs `use`, and disconnects. The cookie comes from XAUTHORITY
 * or ~/.Xauthority. Throws `unavailable` on any failure or after `timeoutMs`.
 */
export async function withDisplay<T>(
  options: { display: string; env: NodeJS.ProcessEnv; timeoutMs: number },
  use: (display: Display) => Promise<T>,
): Promise<T> {
  const x11 = await import('x11');
  // This function opens the stream and reads the cookie itself, because errors in the library's callbacks
  // can't be caught.
  const { display } = options;
  const address = addressOf(display);
  const stream = createConnection(address);
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<T>((resolve, reject) => {
      let hadCookie = false;
      const fail = (error: unknown): void => {
        const reason = reasonOf(error);
        reject(
          REFUSED.test(reason) ? refused(display, hadCookie, error) : unreachable(display, reason, error),
        );
      };
      timer = setTimeout(
        () => fail(new Error(`no response within ${options.timeoutMs} ms`)),
        options.timeoutMs,
      );
      stream.once('error', fail);
      stream.once('close', () => fail(new Error('the connection was closed')));
      stream.once('connect', () => {
        const remote = address.path === undefined ? stream.remoteAddress : undefined;
        const auth = cookieFor(options.env, { number: address.number, remote });
        hadCookie = auth !== undefined;
        // Send the connection setup in one write, because the library doesn't notice a disconnect between two
        // writes.
        stream.cork();
        setImmediate(() => stream.uncork());
        const client = x11.createClient(
          { display, stream, auth: auth ?? { name: '', data: '' }, disableBigRequests: true },
          (error, found) => {
            if (error) return fail(error);
            const root = found.screen[address.screen]?.root;
            if (root === undefined) reject(noScreen(display, found.screen.length));
            else use(displayOf(found, root, () => clearTimeout(timer))).then(resolve, reject);
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

/** Parses a display name (`[unix][:host]:number[.screen]`) into a local socket, or a host and port. */
function addressOf(
  display: string,
): { number: number; screen: number } & (
  { path: string } | { path?: undefined; host: string; port: number }
) {
  const found = /^(?:(.*)\/)?([^/]*):(\d{1,5})(?:\.(\d{1,3}))?$/.exec(display);
  const number = Number(found?.[3]);
  if (found === null || FIRST_PORT + number > 0xffff) {
    throw new StewardError('unavailable', `Invalid DISPLAY "${display}".`, {
      hint: 'Use the value from a terminal in the graphical session, such as ":0".',
    });
  }
  const host = found[2] ?? '';
  const screen = Number(found[4] ?? 0);
  const isLocal = host === '' || host === 'unix';
  return isLocal
    ? { number, screen, path: `/tmp/.X11-unix/X${number}` }
    : { number, screen, host, port: FIRST_PORT + number };
}

function displayOf({ client }: import('x11').XDisplay, root: number, unlimit: () => void) {
  // The library caches atoms per process, but each server numbers its atoms differently.
  client.atoms = {};
  client.atom_names = {};
  /** Returns the id of an X atom, or 0 if no atom with this name exists. */
  const atomOf = async (name: string): Promise<number> =>
    (await answer<number>((done) => client.InternAtom(true, name, done))) ?? 0;
  /** Returns a window property of at most 1 KiB, or undefined if it isn't set or the window is gone. */
  const property = async (window: number, name: string): Promise<Buffer | undefined> => {
    const atom = await atomOf(name);
    if (atom === 0) return undefined;
    const found = await answer<import('x11').Property>((done) =>
      client.GetProperty(0, window, atom, 0, 0, MAX_LONGS, done),
    );
    return found === undefined || found.type === 0 ? undefined : found.data;
  };
  return {
    /** Root window of the screen that DISPLAY selects. */
    root,
    property,
    /** Returns whether the window manager supports an EWMH feature. */
    async isSupported(name: string) {
      const [atom, atoms] = [await atomOf(name), await property(root, '_NET_SUPPORTED')];
      if (atom === 0 || atoms === undefined) return false;
      return Array.from({ length: atoms.length >> 2 }, (_, i) => atoms.readUInt32LE(i * 4)).includes(atom);
    },
    focused: () => focusedWindows(client, root),
    /** Returns the milliseconds since the last keyboard or mouse input. */
    async idleMs() {
      const saver = await answer<import('x11').ScreenSaver>((done) => client.require('screen-saver', done));
      const info = await answer<{ idle: number }>((done) => saver?.QueryInfo(root, done));
      if (info === undefined) {
        throw new StewardError('unavailable', 'The X display does not report idle time.', {
          hint: 'Use an X server with the MIT-SCREEN-SAVER extension.',
        });
      }
      return info.idle;
    },
    /**
     * Calls `onChange` now and after each change of a root window property, until the signal aborts. Has no
     * timeout.
     */
    async watchRoot(name: string, onChange: () => void, signal: AbortSignal) {
      const atom = await answer<number>((done) => client.InternAtom(false, name, done));
      client.on('event', (event) => {
        if (event.name === 'PropertyNotify' && event.atom === atom) onChange();
      });
      client.ChangeWindowAttributes(root, { eventMask: PROPERTY_CHANGE });
      unlimit();
      onChange();
      await aborted(signal);
    },
  };
}

export type Display = ReturnType<typeof displayOf>;

/**
 * Returns the focused window and its ancestors. If focus follows the pointer, the focused window is the one
 * under the pointer.
 */
async function focusedWindows(client: import('x11').XClient, root: number): Promise<number[]> {
  const focus = (await answer<{ focus: number }>((done) => client.GetInputFocus(done)))?.focus ?? NO_FOCUS;
  if (focus === NO_FOCUS) return [];
  const below = focus === POINTER_ROOT || focus === root;
  const next = async (window: number): Promise<number> => {
    if (below)
      return (await answer<{ child: number }>((done) => client.QueryPointer(window, done)))?.child ?? 0;
    return (await answer<{ parent: number }>((done) => client.QueryTree(window, done)))?.parent ?? 0;
  };
  const windows: number[] = [];
  let window = below ? await next(root) : focus;
  for (; window !== 0 && window !== root && windows.length < MAX_LEVELS; window = await next(window)) {
    windows.push(window);
  }
  return below ? windows.reverse() : windows;
}

/** Wraps a request in a promise that resolves to undefined if the window is gone. */
function answer<T>(
  ask: (done: (error: Error | null | undefined, value: T) => true) => void,
): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    ask((error, value) => {
      if (!error) resolve(value);
      else if ('error' in error && GONE.has(Number(error.error))) resolve(undefined);
      else
        reject(
          new StewardError('unavailable', `The X display returned an error: ${error.message}`, {
            cause: error,
          }),
        );
      return true;
    });
  });
}

const REFUSED = /cookie|authoriz|no protocol specified/i;

function refused(display: string, hadCookie: boolean, cause: unknown): StewardError {
  const message = hadCookie
    ? `The X server ${display} refused the authorization cookie.`
    : `No authorization cookie found for the X server ${display}.`;
  return new StewardError('unavailable', message, {
    hint: 'Set XAUTHORITY to its value in the graphical session.',
    cause,
  });
}

function noScreen(display: string, count: number): StewardError {
  return new StewardError('unavailable', `The X server has no screen ${display}.`, {
    hint: count === 1 ? 'The X server has only screen 0.' : `The X server has screens 0 to ${count - 1}.`,
  });
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  const message = error instanceof Error ? error.message : String(error);
  if (code !== undefined || message === '') return code ?? 'no reason given';
  return message.replace(/\s+/g, ' ').trim().replace(/\.$/, '');
}

function unreachable(display: string, reason: string, cause?: unknown): StewardError {
  return new StewardError('unavailable', `The X display ${display} is not responding: ${reason}.`, {
    hint: 'Set DISPLAY and XAUTHORITY to their values in the graphical session.',
    cause,
  });
}

const LOCAL = 256;
const WILD = 65535;
const INTERNET = 0;
const MAX_BYTES = 1024 * 1024;

/**
 * Returns the cookie for a display from $XAUTHORITY or ~/.Xauthority, or undefined if there is none. For TCP,
 * `remote` is the server's address.
 */
export function cookieFor(env: NodeJS.ProcessEnv, display: { number: number; remote: string | undefined }) {
  const path = env['XAUTHORITY'] || (env['HOME'] ? join(env['HOME'], '.Xauthority') : undefined);
  const bytes = path === undefined ? undefined : readSystemBytes(path, MAX_BYTES);
  return bytes === undefined ? undefined : findCookie(bytes, { ...display, host: hostname() });
}

/**
 * Searches an Xauthority file. Each entry has a family, then the length-prefixed address, display number,
 * method and cookie.
 */
export function findCookie(
  bytes: Buffer,
  display: { number: number; remote: string | undefined; host: string },
) {
  let at = 0;
  const word = (): number => {
    at += 2;
    return at > bytes.length ? -1 : bytes.readUInt16BE(at - 2);
  };
  const field = (): Buffer | undefined => {
    const length = word();
    if (length < 0 || at + length > bytes.length) return undefined;
    at += length;
    return bytes.subarray(at - length, at);
  };
  for (let family = word(); family >= 0; family = word()) {
    const [address, number, name, data] = [field(), field(), field(), field()];
    if (!address || !number || !name || !data) return undefined;
    const numberFits = number.length === 0 || number.toString('latin1') === String(display.number);
    if (numberFits && addressFits(family, address, display)) {
      return { name: name.toString('latin1'), data: data.toString('latin1') };
    }
  }
  return undefined;
}

/** With ssh -X, the client connects to loopback, but the cookie is stored under the local host name. */
function addressFits(
  family: number,
  address: Buffer,
  { remote, host }: { remote: string | undefined; host: string },
): boolean {
  if (family === WILD) return true;
  if (family === LOCAL) {
    const isLocal = remote === undefined || LOOPBACK.has(remote);
    return isLocal && address.toString('latin1') === host;
  }
  return (
    family === INTERNET && address.length === 4 && remote?.replace('::ffff:', '') === [...address].join('.')
  );
}

const LOOPBACK = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);
