import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { errnoCode } from '../../errors';
import { ensureFolder, makePrivate } from '../files/folder';
import { shortHash } from '../files/short-hash';

/** Returns 4, 6, or 0 if a host is not an IP address. Loads `node:net` only now, because that takes 5 ms. */
export function isIP(host: string): number {
  return process.getBuiltinModule('node:net').isIP(host);
}

/** Returns whether a host name or IP address is loopback. An IPv6 address must not have brackets. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** Returns whether this machine has an address, by listening there for a moment. */
export function hasAddress(host: string): Promise<boolean> {
  const server = process.getBuiltinModule('node:net').createServer();
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
