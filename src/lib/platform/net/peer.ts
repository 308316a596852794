import { closeSync, openSync, readFileSync, readSync, readdirSync, readlinkSync } from 'node:fs';
import type { Socket } from 'node:net';
import { endianness } from 'node:os';
import { basename } from 'node:path';

import { errnoCode } from '../../errors';
import { systemClock } from '../time/clock';
import { yielder } from '../time/wait';
import { isLoopback } from './address';

type Ends = Pick<Socket, 'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort'>;

/** Does a connection belong to another user of this machine? A promise the first time, then the answer. */
export type IsOtherUser = () => boolean | Promise<boolean>;

/** A connection whose row is looked for. */
interface Waiter {
  /** Its ends as the tables write them: as an IPv4 socket, and as an IPv6 socket that speaks IPv4. */
  keys: readonly string[];
  /** Whole passes over the tables that are left. */
  passes: number;
  resolve: (isOtherUser: boolean) => void;
  reject: (error: unknown) => void;
}

interface Search {
  waiting: Set<Waiter>;
  isRunning: boolean;
}

/** The sockets of IPv4 and of IPv6; the second is missing where IPv6 is off. */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'] as const;
/** About 110,000 sockets. A connection that is listed beyond that counts as another user's. */
const MAX_BYTES = 16 * 1024 * 1024;
/** The tables are read in pieces, so a row that moves meanwhile may be missed: a missing one is looked for twice. */
const PASSES = 2;
/** How long other requests wait for the reading of a long table at a time, ms. */
const SLICE_MS = 2;

/**
 * Looks up the user at the other end of accepted TCP connections, on Linux and for connections within this machine;
 * any other connection counts as this user's. This user and root pass. A user who cannot be told, because the other
 * end is closed, does not. Where the tables cannot be read, everybody passes.
 */
export function peerLookup(): (socket: Ends) => IsOtherUser {
  const search: Search = { waiting: new Set(), isRunning: false };
  const isOther = (socket: Ends): Promise<boolean> => {
    const { remoteAddress = '', localAddress = '' } = socket;
    const isWithin = isLoopback(plain(localAddress)) || isLoopback(plain(remoteAddress));
    if (process.platform !== 'linux' || !isWithin) return Promise.resolve(false);
    return new Promise((resolve, reject) => {
      search.waiting.add({ keys: keysOf(socket), passes: PASSES, resolve, reject });
      if (!search.isRunning) void scan(search);
    });
  };
  return (socket) => {
    let answer: boolean | Promise<boolean> | undefined;
    return () => (answer ??= isOther(socket).then((found) => (answer = found)));
  };
}

/** Can this system tell who is at the other end of a connection? */
export function canIdentifyPeers(): boolean {
  const file = openTable(TABLES[0]);
  if (file !== undefined) closeSync(file);
  return file !== undefined;
}

/** Reads the tables over and over while anybody waits. All who wait share the reading, from where they came in. */
async function scan(search: Search): Promise<void> {
  const { waiting } = search;
  search.isRunning = true;
  const end = (waiter: Waiter, isOtherUser: boolean): void => {
    waiting.delete(waiter);
    waiter.resolve(isOtherUser);
  };
  try {
    while (waiting.size > 0) {
      const whole = [...waiting];
      for (const path of TABLES) {
        const file = openTable(path);
        if (file === undefined && path === TABLES[0]) for (const waiter of waiting) end(waiter, false);
        if (file === undefined || waiting.size === 0) continue;
        for await (const rows of rowsOf(file)) {
          for (const waiter of waiting) {
            const owner = ownerIn(rows, waiter.keys);
            if (owner !== undefined) end(waiter, !isTrusted(owner));
          }
          if (waiting.size === 0) break;
        }
      }
      for (const waiter of whole) if (waiting.has(waiter) && --waiter.passes === 0) end(waiter, true);
    }
  } catch (error) {
    for (const waiter of waiting) waiter.reject(error);
    waiting.clear();
  } finally {
    search.isRunning = false;
  }
}

interface Owner {
  uid: number;
  isClosed: boolean;
}

/** A socket whose process has closed it is listed as root's, without an inode. */
function isTrusted({ uid, isClosed }: Owner): boolean {
  return uid === 0 ? !isClosed : uid === process.geteuid?.();
}

/** The owner in the row `… LOCAL REMOTE STATE QUEUES TIMER RETRANSMITS UID TIMEOUT INODE …`. */
function ownerIn(rows: string, keys: readonly string[]): Owner | undefined {
  for (const key of keys) {
    const at = rows.indexOf(key);
    if (at === -1) continue;
    const [, , , , , , uid, , inode] = rows.slice(at + 1, rows.indexOf('\n', at)).split(/ +/);
    return { uid: Number(uid), isClosed: inode === '0' };
  }
  return undefined;
}

/** Undefined where this system has no such table, or does not show it. */
function openTable(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if (['ENOENT', 'EACCES', 'EPERM'].includes(errnoCode(error) ?? '')) return undefined;
    throw error;
  }
}

/** Whole rows, piece by piece. Read here: the system gives 4 KiB at a time, too little for another thread. */
async function* rowsOf(file: number): AsyncGenerator<string> {
  const pause = yielder(systemClock(), SLICE_MS);
  const bytes = Buffer.allocUnsafe(64 * 1024);
  try {
    let rest = '';
    for (let size = -1, total = 0; size !== 0 && total < MAX_BYTES; total += size) {
      size = readSync(file, bytes);
      const text = rest + bytes.toString('latin1', 0, size);
      const end = text.lastIndexOf('\n') + 1;
      rest = text.slice(end);
      if (end > 0) yield text.slice(0, end);
      await pause();
    }
  } finally {
    closeSync(file);
  }
}

function keysOf({ remoteAddress = '', remotePort, localAddress = '', localPort }: Ends): string[] {
  const [from, to] = [plain(remoteAddress), plain(localAddress)];
  const keyOf = (hex: (address: string) => string): string =>
    ` ${hex(from)}:${portOf(remotePort)} ${hex(to)}:${portOf(localPort)} `;
  if (from.includes(':')) return [keyOf((address) => hexOf(bytesOf6(address)))];
  const mapped = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255];
  return [
    keyOf((address) => hexOf(bytesOf4(address))),
    keyOf((address) => hexOf([...mapped, ...bytesOf4(address)])),
  ];
}

/** An IPv4 address that came over an IPv6 socket, as IPv4. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}

function portOf(port = 0): string {
  return port.toString(16).toUpperCase().padStart(4, '0');
}

/** Words of four bytes, each as a number of this machine. */
function hexOf(bytes: readonly number[]): string {
  const words = Array.from({ length: bytes.length / 4 }, (_, i) => bytes.slice(i * 4, i * 4 + 4));
  return words
    .flatMap((word) => (endianness() === 'LE' ? word.reverse() : word))
    .map((byte) => byte.toString(16).toUpperCase().padStart(2, '0'))
    .join('');
}

function bytesOf4(address: string): number[] {
  return address.split('.').map(Number);
}

function bytesOf6(address: string): number[] {
  const [head = [], tail = []] = address
    .replace(/%.*/, '')
    .split('::')
    .map((half) => half.split(':').filter((group) => group !== ''));
  const zeros = Array<string>(8 - head.length - tail.length).fill('0');
  return [...head, ...zeros, ...tail].flatMap((group) => [
    parseInt(group, 16) >> 8,
    parseInt(group, 16) & 255,
  ]);
}

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
