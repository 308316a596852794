import { mkdtempSync, rmSync } from 'node:fs';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { ensureFolder, makePrivate } from '../files/folder';
import { shortHash } from '../files/short-hash';

/** 4 or 6 for an IP address (without brackets), 0 for anything else. */
export function ipVersion(text: string): 0 | 4 | 6 {
  return isIP(text) as 0 | 4 | 6;
}

/** Does the name or address (IPv6 without brackets) stand for this machine alone? */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** `http://127.0.0.1:31337`; an address that stands for all of the machine's is shown as loopback. */
export function httpUrl(host: string, port: number): string {
  const shown = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${isIP(shown) === 6 ? `[${shown}]` : shown}:${port}`;
}

/** Does the host name of a URL (`127.0.0.1`, `[::1]`) stand for this machine alone? Loads nothing. */
export function isLoopbackHost(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

export interface LocalAddress {
  /** What a server listens on and a client connects to. */
  path: string;
  /** Takes away what is left of it on disk. */
  remove: () => void;
}

/** A path of a unix socket has room for so many bytes: 108 on Linux, 104 on macOS, the closing zero included. */
const MAX_PATH_BYTES = 103;

/**
 * The address of a server for this user alone: a unix socket in `folder`, which is made private, or a named pipe
 * on Windows. A path that is too long for a socket gives way to a new private folder in the system's temporary one,
 * so whoever looks for it has to be told where it is. A socket that a killed server left is removed.
 */
export function localAddress(folder: string, name: string): LocalAddress {
  if (process.platform === 'win32') {
    // Its default rights let only this user, administrators and the system open it for writing.
    return { path: `\\\\.\\pipe\\steward-${shortHash(folder)}-${name}`, remove: () => undefined };
  }
  ensureFolder(folder);
  makePrivate(folder);
  const path = join(folder, `${name}.sock`);
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) {
    rmSync(path, { force: true });
    return { path, remove: () => rmSync(path, { force: true }) };
  }
  const made = join(mkdtempSync(join(shortTemp(), 'steward-')), `${name}.sock`);
  return { path: made, remove: () => rmSync(dirname(made), { recursive: true, force: true }) };
}

function shortTemp(): string {
  return Buffer.byteLength(tmpdir()) <= MAX_PATH_BYTES - 40 ? tmpdir() : '/tmp';
}
