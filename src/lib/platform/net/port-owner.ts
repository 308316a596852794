import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';

import { errnoCode } from '../../errors';

export interface PortOwner {
  /** Null when the process belongs to another user. */
  pid: number | null;
  /** The name of its program; null when it may not be seen. Not its arguments: they may hold secrets. */
  program: string | null;
  uid: number;
}

/** Who listens on a TCP port of this machine: told by /proc on Linux; undefined elsewhere, or when nobody does. */
export function portOwner(port: number): PortOwner | undefined {
  const found = ['/proc/net/tcp', '/proc/net/tcp6']
    .flatMap((path) => parseSockets(textOf(path) ?? ''))
    .find((socket) => socket.port === port);
  if (found === undefined) return undefined;
  const pid = holderOf(found.inode);
  if (pid === undefined) return { pid: null, program: null, uid: found.uid };
  const [program = ''] = (textOf(`/proc/${pid}/cmdline`) ?? '').split('\0');
  return { pid, program: program === '' ? null : basename(program).slice(0, 100), uid: found.uid };
}

interface ListeningSocket {
  port: number;
  uid: number;
  inode: string;
}

/** The sockets of a `/proc/net/tcp` that listen (state 0A). */
export function parseSockets(text: string): ListeningSocket[] {
  return text
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const fields = line.trim().split(/\s+/);
      const [, local = '', , state, , , , uid = '', , inode = ''] = fields;
      if (state !== '0A') return [];
      return [{ port: parseInt(local.slice(local.lastIndexOf(':') + 1), 16), uid: Number(uid), inode }];
    });
}

function holderOf(inode: string): number | undefined {
  const wanted = `socket:[${inode}]`;
  const pids = namesIn('/proc').filter((name) => /^\d+$/.test(name));
  const holder = pids.find((pid) =>
    namesIn(`/proc/${pid}/fd`).some((fd) => linkOf(`/proc/${pid}/fd/${fd}`) === wanted),
  );
  return holder === undefined ? undefined : Number(holder);
}

function namesIn(path: string): string[] {
  return unlessHidden(() => readdirSync(path)) ?? [];
}

function linkOf(path: string): string | undefined {
  return unlessHidden(() => readlinkSync(path));
}

function textOf(path: string): string | undefined {
  return unlessHidden(() => readFileSync(path, 'utf8'));
}

/** A process may end while it is looked at, and those of other users may not be. */
function unlessHidden<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (['ENOENT', 'EACCES', 'EPERM', 'ESRCH', 'ENOTDIR'].includes(errnoCode(error) ?? '')) return undefined;
    throw error;
  }
}
