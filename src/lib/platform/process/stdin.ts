import { fstatSync, readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';

import { errnoCode } from '../../errors';
import { makeNonBlocking, pause, tryRead } from '../net/non-blocking';

interface StdinBounds {
  /** How long to wait for the first byte, in ms. */
  firstByteMs: number;
  /** How long to wait for the end of the input, in ms from the start. */
  endMs: number;
  /**
   * Maximum number of bytes to return. Further input is read and discarded, so that the writer doesn't get a
   * broken pipe.
   */
  keepBytes: number;
}

export interface StdinRead {
  bytes: Buffer;
  /**
   * `end`: end of input. `whole`: `isWhole` accepted the input before its end. `late`: timeout. `large`: more
   * than `keepBytes`. `terminal`: nothing was read.
   */
  end: 'end' | 'whole' | 'late' | 'large' | 'terminal';
}

const CHUNK = 64 * 1024;
const PAUSE_MS = 1;

/**
 * Reads stdin within limits, and returns as soon as `isWhole` accepts the input. Polls, because a blocking
 * read can't be interrupted and Node's stream is slow to load.
 */
export async function readStdin(
  bounds: StdinBounds,
  isWhole: (bytes: Buffer) => boolean,
): Promise<StdinRead> {
  const kind = kindOfStdin();
  const collected = collector(bounds.keepBytes);
  const before = readByShim();
  if (before !== undefined) collected.add(before);
  if (kind === 'terminal') return collected.result('terminal');
  if (kind === 'stream' && !makeNonBlocking(0)) return fromStream(bounds, isWhole, collected);
  const chunk = Buffer.allocUnsafe(CHUNK);
  const startMs = monotonicMs();
  for (let isChecked = false; ;) {
    // Taken before the read, so that a process that didn't run meanwhile reads once more.
    const waitedMs = monotonicMs() - startMs;
    const got = tryRead(0, chunk);
    if (got === 0) return collected.result('end');
    if (got !== undefined) {
      collected.add(chunk.subarray(0, got));
      isChecked = false;
      // Checks the timeout even if data keeps arriving, because the writer may never stop.
      if (waitedMs < bounds.endMs) continue;
    } else if (!isChecked && !collected.isEmpty()) {
      isChecked = true;
      if (collected.isWhole(isWhole)) return collected.result('whole');
    }
    const limitMs = collected.isEmpty() ? bounds.firstByteMs : bounds.endMs;
    if (waitedMs >= limitMs) return collected.result('late');
    pause(PAUSE_MS);
  }
}

/** How much input beyond `keepBytes` to discard before giving up on a writer that may never stop. */
const MAX_DISCARDED = 16 * 1024 * 1024;

/** Returns stdin up to `keepBytes`, without a timeout, or undefined if stdin is a terminal. */
export async function readPipedStdin(
  keepBytes: number,
): Promise<{ bytes: Buffer; cut: boolean } | undefined> {
  if (kindOfStdin() === 'terminal') return undefined;
  const collected = collector(keepBytes);
  let bytesRead = 0;
  for await (const chunk of process.stdin) {
    collected.add(chunk as Buffer);
    bytesRead += (chunk as Buffer).length;
    if (bytesRead > keepBytes + MAX_DISCARDED) break;
  }
  const { bytes, end } = collected.result('end');
  return { bytes, cut: end === 'large' };
}

/**
 * Returns the part of stdin that the shim has already read, without the line feed that a here-document adds.
 */
function readByShim(): Buffer | undefined {
  const { STEWARD_STDIN_FD: fd } = process.env;
  if (fd === undefined) return undefined;
  delete process.env['STEWARD_STDIN_FD'];
  return readFileSync(Number(fd)).subarray(0, -1);
}

function kindOfStdin(): 'file' | 'stream' | 'terminal' {
  try {
    const facts = fstatSync(0);
    if (facts.isFile() || facts.isDirectory()) return 'file';
    // /dev/null is also a character device, but not a terminal.
    if (facts.isCharacterDevice())
      return process.getBuiltinModule('node:tty').isatty(0) ? 'terminal' : 'file';
    return 'stream';
  } catch (error) {
    // EBADF means that stdin is closed.
    if (errnoCode(error) === 'EBADF') return 'terminal';
    throw error;
  }
}

function collector(keepBytes: number) {
  let parts: Buffer[] = [];
  let length = 0;
  let isCut = false;
  const joined = (): Buffer => {
    if (parts.length !== 1) parts = [Buffer.concat(parts)];
    return parts[0] as Buffer;
  };
  return {
    add(chunk: Buffer) {
      const room = Math.max(0, keepBytes - length);
      if (room < chunk.length) isCut = true;
      if (room === 0) return;
      // Copies the bytes. `Buffer.slice` would share memory with the chunk.
      parts.push(Uint8Array.prototype.slice.call(chunk, 0, room) as Buffer);
      length += Math.min(room, chunk.length);
    },
    isEmpty: () => length === 0,
    isWhole: (test: (bytes: Buffer) => boolean) => !isCut && test(joined()),
    result: (end: StdinRead['end']): StdinRead => ({ bytes: joined(), end: isCut ? 'large' : end }),
  };
}

type Collector = ReturnType<typeof collector>;

function fromStream(
  bounds: StdinBounds,
  isWhole: (bytes: Buffer) => boolean,
  collected: Collector,
): Promise<StdinRead> {
  const { stdin } = process;
  if (!collected.isEmpty() && collected.isWhole(isWhole)) return Promise.resolve(collected.result('whole'));
  return new Promise((resolve, reject) => {
    const finish = (end: StdinRead['end']): void => {
      clearTimeout(first);
      clearTimeout(last);
      stdin.removeAllListeners();
      stdin.pause();
      stdin.unref();
      resolve(collected.result(end));
    };
    const first = setTimeout(() => {
      if (collected.isEmpty()) finish('late');
    }, bounds.firstByteMs);
    const last = setTimeout(() => finish('late'), bounds.endMs);
    stdin.on('data', (chunk: Buffer) => {
      collected.add(chunk);
      if (collected.isWhole(isWhole)) finish('whole');
    });
    stdin.on('end', () => finish('end'));
    stdin.on('error', (error) => {
      if (errnoCode(error) === 'EOF') finish('end');
      else reject(error);
    });
  });
}

function monotonicMs(): number {
  return process.uptime() * 1000;
}

const LF = 0x0a;

/**
 * Returns stdin as a stream of non-blank lines, including their line feeds. Drops lines longer than
 * `maxBytes` and calls `onLong` for each.
 */
export function stdinLines(maxBytes: number, onLong: () => void): Readable {
  const { pipeline, Transform } = process.getBuiltinModule('node:stream');
  let parts: Buffer[] = [];
  let size = 0;
  const lines = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (let at = 0; at < chunk.length;) {
        const feed = chunk.indexOf(LF, at);
        const piece = chunk.subarray(at, feed === -1 ? chunk.length : feed + 1);
        at += piece.length;
        const wasLong = size > maxBytes;
        size += piece.length;
        if (size <= maxBytes) parts.push(piece);
        else {
          parts = [];
          if (!wasLong) onLong();
        }
        if (feed === -1) continue;
        if (size <= maxBytes && parts.some(hasText)) this.push(Buffer.concat(parts));
        parts = [];
        size = 0;
      }
      done();
    },
    flush(done) {
      if (parts.some(hasText)) this.push(Buffer.concat([...parts, Buffer.of(LF)]));
      done();
    },
  });
  // Ignores errors, because a broken pipe only ends the input.
  pipeline(process.stdin, lines, () => undefined);
  return lines;
}

function hasText(piece: Buffer): boolean {
  return piece.some((byte) => byte !== 0x20 && byte !== 0x09 && byte !== 0x0d && byte !== LF);
}
