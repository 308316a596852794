import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { domainToASCII } from 'node:url';

import { errnoCode, StewardError } from '../../errors';
import { ensureFolder, makePrivate } from '../files/folder';
import { shortHash } from '../files/short-hash';

export { isIP };

/** Returns whether a text is a site's name: a host name with a dot, but no IP address. */
export function isSite(text: string): boolean {
  return /^(?=.{4,100}$)(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z](?:[a-z0-9-]*[a-z0-9])?$/.test(text);
}

/** The name of all sites that were not ticked. */
export const OTHER_SITES = 'other sites';

/** Returns a site's name as browsers write it, such as `xn--mller-kva.de` for `müller.de`. */
export function asciiSite(name: string): string {
  return /^[\p{L}\p{M}\p{N}.-]+$/u.test(name) ? domainToASCII(name) || name : name;
}

/** Returns an entry such as `site:müller.de` as it is compared. Other names stay. */
export function asciiEntry(entry: string): string {
  return entry.replace(/^(site:)(.+)$/i, (_, key: string, name: string) => key + asciiSite(name));
}

/** Returns a site's name in lower case and in ASCII. Throws `usage` if it is invalid. */
export function checkedSite(text: string): string {
  const name = asciiSite(text.toLowerCase());
  if (isSite(name)) return name;
  const host = URL.canParse(name) ? new URL(name).hostname : '';
  throw new StewardError('usage', `Invalid site "${text}".`, {
    hint: `Use ${isSite(host) ? `${host}, without the rest of the address` : 'a name such as docs.rs'}.`,
  });
}

/** Returns whether a host name or IP address is loopback. An IPv6 address must not have brackets. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** Returns whether this machine has an address, by listening there for a moment. */
export function hasAddress(host: string): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', (error) => resolve(!isNoAddress(error)));
    server.listen({ host, port: 0, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** Returns whether listening failed because this machine doesn't have the address. */
export function isNoAddress(error: unknown): boolean {
  return NO_ADDRESS.has(errnoCode(error) ?? '');
}

const NO_ADDRESS = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'ENOTFOUND']);

/** Returns the loopback address to try instead of `host`. */
export function otherLoopback(host: string): string {
  return host === '127.0.0.1' ? '::1' : '127.0.0.1';
}

/** Returns a URL such as `http://127.0.0.1:31337`, replacing a wildcard address with loopback. */
export function httpUrl(host: string, port: number): string {
  const shown = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${isIP(shown) === 6 ? `[${shown}]` : shown}:${port}`;
}

/** Returns whether the host name of a URL, such as `127.0.0.1` or `[::1]`, is loopback. */
export function isLoopbackHost(hostname: string): boolean {
  return isLoopback(hostname.replace(/^\[(.*)\]$/, '$1'));
}

/**
 * Limit for Unix socket paths, which can be at most 108 bytes long on Linux and 104 on macOS, including the
 * final NUL.
 */
const MAX_PATH_BYTES = 103;

/**
 * Returns an address that only this user can connect to: a named pipe on Windows, otherwise a Unix socket in
 * `folder`. If the path would be too long, the socket is placed in a new temporary folder.
 */
export function localAddress(folder: string, name: string) {
  if (process.platform === 'win32') {
    // By default, only this user, administrators and the system can write to a named pipe.
    return { path: `\\\\.\\pipe\\steward-${shortHash(folder)}-${name}`, remove: () => undefined };
  }
  ensureFolder(folder);
  makePrivate(folder);
  const path = join(folder, `${name}.sock`);
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) {
    rmSync(path, { force: true });
    return { path, remove: () => rmSync(path, { force: true }) };
  }
  const temp = Buffer.byteLength(tmpdir()) <= MAX_PATH_BYTES - 40 ? tmpdir() : '/tmp';
  const made = join(mkdtempSync(join(temp, 'steward-')), `${name}.sock`);
  return { path: made, remove: () => rmSync(dirname(made), { recursive: true, force: true }) };
}
