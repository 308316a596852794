import { hostname } from 'node:os';
import { join } from 'node:path';

import { readSystemBytes } from '../files/system-files';

/** What an X server asks for as a proof: the name of the method and its secret. */
export interface XCookie {
  name: string;
  /** One character a byte. */
  data: string;
}

const LOCAL = 256;
const WILD = 65535;
const INTERNET = 0;
const MAX_BYTES = 1024 * 1024;

/**
 * The cookie of a display in $XAUTHORITY, else ~/.Xauthority; undefined when no entry fits, or the file is
 * missing or not readable: many servers ask for none. `remote` is the peer's address of a TCP connection.
 */
export function cookieFor(
  env: NodeJS.ProcessEnv,
  display: { number: number; remote: string | undefined },
): XCookie | undefined {
  const path = env['XAUTHORITY'] || (env['HOME'] ? join(env['HOME'], '.Xauthority') : undefined);
  const bytes = path === undefined ? undefined : readSystemBytes(path, MAX_BYTES);
  return bytes === undefined ? undefined : findCookie(bytes, { ...display, host: hostname() });
}

/** Entries are family, address, display number, method and secret, each but the first with its length before it. */
export function findCookie(
  bytes: Buffer,
  display: { number: number; remote: string | undefined; host: string },
): XCookie | undefined {
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
    // A file that ends within an entry is being written: what came before counts.
    if (!address || !number || !name || !data) return undefined;
    const numberFits = number.length === 0 || number.toString('latin1') === String(display.number);
    if (numberFits && addressFits(family, address, display)) {
      return { name: name.toString('latin1'), data: data.toString('latin1') };
    }
  }
  return undefined;
}

/** The loopback of a forwarded display (ssh -X) is entered as local. */
function addressFits(
  family: number,
  address: Buffer,
  display: { remote: string | undefined; host: string },
): boolean {
  const { remote, host } = display;
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
