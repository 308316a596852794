import { closeSync, openSync, readFileSync, readSync, readdirSync, readlinkSync } from 'node:fs';
import type { Socket } from 'node:net';
import { endianness } from 'node:os';
import { basename } from 'node:path';

import { unless } from '../../errors';
import { systemClock } from '../time/clock';
import { yielder } from '../time/wait';
import { isLoopback } from './address';

type Ends = Pick<Socket, 'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort'>;

/**
 * Returns whether the connection comes from another user on this machine. Returns a promise until the result
 * is known.
 */
export type IsOtherUser = () => boolean | Promise<boolean>;

interface Waiter {
  /**
   * The keys under which the connection may be listed in the socket tables, as IPv4 or as IPv4-mapped IPv6.
   */
  keys: readonly string[];
  /** Number of table reads left for this lookup. */
  passes: number;
  resolve: (isOtherUser: boolean) => void;
  reject: (error: unknown) => void;
}

interface Lookup {
  waiting: Set<Waiter>;
  byKey: Map<string, Waiter>;
  isRunning: boolean;
}

/** The system's tables of IPv4 and IPv6 sockets. The IPv6 table is missing if IPv6 is off. */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'] as const;
/**
 * How many bytes of a table to read, enough for 110,000 sockets. Connections beyond this limit are treated as
 * another user's.
 */
const MAX_BYTES = 16 * 1024 * 1024;
/** Number of times to read the tables per lookup. One read may miss a row that moves during the read. */
const PASSES = 2;
/** How long reading may block the event loop at a time, in ms. */
const SLICE_MS = 2;
const HIDDEN = ['ENOENT', 'EACCES', 'EPERM', 'ESRCH', 'ENOTDIR'];

/**
 * Returns a function that checks whether a local connection comes from a user other than root and this user.
 * Returns true if the peer has closed the connection, and false if the peer is remote or unknown.
 */
export function peerLookup(): (socket: Ends) => IsOtherUser {
  const lookup: Lookup = { waiting: new Set(), byKey: new Map(), isRunning: false };
  const isOther = (socket: Ends): Promise<boolean> => {
    const { remoteAddress = '', localAddress = '' } = socket;
    const isWithin = isLoopback(plain(localAddress)) || isLoopback(plain(remoteAddress));
    if (process.platform !== 'linux' || !isWithin) return Promise.resolve(false);
    return new Promise((resolve, reject) => {
      const waiter = { keys: keysOf(socket), passes: PASSES, resolve, reject };
      lookup.waiting.add(waiter);
      for (const key of waiter.keys) lookup.byKey.set(key, waiter);
      if (!lookup.isRunning) void run(lookup);
    });
  };
  return (socket) => {
    let answer: boolean | Promise<boolean> | undefined;
    return () => (answer ??= isOther(socket).then((found) => (answer = found)));
  };
}

/** Returns whether this system can identify the user at the other end of a connection. */
export function canIdentifyPeers(): boolean {
  const file = openTable(TABLES[0]);
  if (file !== undefined) closeSync(file);
  return file !== undefined;
}

/** Reads the tables until no lookup is pending. One read serves all pending lookups. */
async function run(lookup: Lookup): Promise<void> {
  const { waiting } = lookup;
  lookup.isRunning = true;
  try {
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.size > 0) {
      const atStart = [...waiting];
      for (const path of TABLES) await readTable(lookup, path);
      for (const waiter of atStart)
        if (waiting.has(waiter) && --waiter.passes === 0) settle(lookup, waiter, true);
    }
  } catch (error) {
    for (const waiter of waiting) waiter.reject(error);
    waiting.clear();
    lookup.byKey.clear();
  } finally {
    lookup.isRunning = false;
  }
}

async function readTable(lookup: Lookup, path: (typeof TABLES)[number]): Promise<void> {
  const { waiting, byKey } = lookup;
  const file = openTable(path);
  if (file === undefined && path === TABLES[0]) {
    for (const waiter of waiting) settle(lookup, waiter, false);
  }
  if (file === undefined) return;
  const keyLength = path === TABLES[0] ? KEY_LENGTH.v4 : KEY_LENGTH.v6;
  const pause = yielder(systemClock(), SLICE_MS);
  const bytes = Buffer.allocUnsafe(64 * 1024);
  try {
    let rest = '';
    for (let size = -1, total = 0; size !== 0 && total < MAX_BYTES && waiting.size > 0; total += size) {
      size = readSync(file, bytes);
      const text = rest + bytes.toString('latin1', 0, size);
      let start = 0;
      for (let end = text.indexOf('\n'); end !== -1; start = end + 1, end = text.indexOf('\n', start)) {
        const key = text.indexOf(': ', start) + 2;
        const waiter = key < end ? byKey.get(text.slice(key, key + keyLength)) : undefined;
        if (waiter !== undefined) settle(lookup, waiter, !isTrusted(text.slice(start, end)));
      }
      rest = text.slice(start);
      await pause();
    }
  } finally {
    closeSync(file);
  }
}

function settle({ waiting, byKey }: Lookup, waiter: Waiter, isOtherUser: boolean): void {
  waiting.delete(waiter);
  for (const key of waiter.keys) if (byKey.get(key) === waiter) byKey.delete(key);
  waiter.resolve(isOtherUser);
}

/**
 * Returns whether the socket in a row belongs to root or this user. A closed socket is also listed with
 * root's user ID, but without an inode.
 */
function isTrusted(row: string): boolean {
  const { uid, inode } = fieldsOf(row);
  return uid === 0 ? inode !== '0' : uid === process.geteuid?.();
}

/** Parses a row `SLOT: LOCAL REMOTE STATE QUEUES TIMER RETRANSMITS UID TIMEOUT INODE …`. */
function fieldsOf(row: string): { local: string; state: string; uid: number; inode: string } {
  const [, local = '', , state = '', , , , uid = '', , inode = ''] = row.trim().split(/ +/);
  return { local, state, uid: Number(uid), inode };
}

function openTable(path: string): number | undefined {
  return unless(['ENOENT', 'EACCES', 'EPERM'], () => openSync(path, 'r'));
}

/** Length of `LOCAL REMOTE`, each a hexadecimal address and port. */
const KEY_LENGTH = { v4: 27, v6: 75 };

function keysOf({ remoteAddress = '', remotePort, localAddress = '', localPort }: Ends): string[] {
  const [from, to] = [plain(remoteAddress), plain(localAddress)];
  const keyOf = (hex: (address: string) => string): string =>
    `${hex(from)}:${portOf(remotePort)} ${hex(to)}:${portOf(localPort)}`;
  if (from.includes(':')) return [keyOf((address) => hexOf(bytesOf6(address)))];
  const mapped = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255];
  return [
    keyOf((address) => hexOf(bytesOf4(address))),
    keyOf((address) => hexOf([...mapped, ...bytesOf4(address)])),
  ];
}

/** Converts an IPv4-mapped IPv6 address to IPv4. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}

function portOf(port = 0): string {
  return port.toString(16).toUpperCase().padStart(4, '0');
}

/**
 * Formats an address in hexadecimal, as in /proc/net/tcp. Each four-byte word is in this machine's byte
 * order.
 */
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
  /** Process id, or null if the process belongs to another user. */
  pid: number | null;
  /** Program name without arguments, which may contain secrets. Null if hidden. */
  program: string | null;
  uid: number;
}

const LISTENING = '0A';

/**
 * Returns the process that is listening on a TCP port of this machine, or undefined if unknown. Works only on
 * Linux.
 */
export function portOwner(port: number): PortOwner | undefined {
  const found = TABLES.flatMap((path) => (fileText(path) ?? '').split('\n').slice(1).map(fieldsOf)).find(
    ({ state, local }) => state === LISTENING && local.endsWith(`:${portOf(port)}`),
  );
  if (found === undefined) return undefined;
  const { uid, inode } = found;
  const pid = pidOf(inode);
  if (pid === undefined) return { pid: null, program: null, uid };
  const [program = ''] = (fileText(`/proc/${pid}/cmdline`) ?? '').split('\0');
  return { pid: Number(pid), program: program === '' ? null : basename(program).slice(0, 100), uid };
}

/** Returns the process that owns a socket, or undefined if it has ended or belongs to another user. */
function pidOf(inode: string): string | undefined {
  const namesIn = (path: string): string[] => unless(HIDDEN, () => readdirSync(path)) ?? [];
  return namesIn('/proc')
    .filter((name) => /^\d+$/.test(name))
    .find((pid) =>
      namesIn(`/proc/${pid}/fd`).some(
        (fd) => unless(HIDDEN, () => readlinkSync(`/proc/${pid}/fd/${fd}`)) === `socket:[${inode}]`,
      ),
    );
}

function fileText(path: string): string | undefined {
  return unless(HIDDEN, () => readFileSync(path, 'utf8'));
}
