import { fstatSync } from 'node:fs';
import type { Readable } from 'node:stream';

import { errnoCode } from '../../errors';
import { makeNonBlocking, pause, tryRead } from '../net/non-blocking';

export interface StdinBounds {
  /** How long to wait for the first byte, ms. */
  firstByteMs: number;
  /** How long to wait for the end, ms, from the start of the reading. */
  endMs: number;
  /** How much is kept; what follows is read and dropped, so that the writer never meets a closed pipe. */
  keepBytes: number;
}

export interface StdinRead {
  bytes: Buffer;
  /**
   * `end`: all of it. `whole`: the writer keeps it open, and `isWhole` said that this is all. `late`: the time
   * was up. `large`: there was more than is kept. `terminal`: a person is at the other end, nothing was read.
   */
  end: 'end' | 'whole' | 'late' | 'large' | 'terminal';
}

const CHUNK = 64 * 1024;
const PAUSE_MS = 1;

/**
 * Reads stdin within its bounds, and returns as soon as `isWhole` accepts what an open stdin has given so far.
 * Never waits longer than the bounds, whatever the other end does.
 *
 * A blocking read cannot be given up, not even by leaving the process, and Node's stream for stdin costs more
 * than all else a hook does; so stdin is made non-blocking and asked every millisecond. Where that is not to be
 * had, the stream is used.
 */
export async function readStdin(
  bounds: StdinBounds,
  isWhole: (bytes: Buffer) => boolean,
): Promise<StdinRead> {
  const kind = kindOfStdin();
  if (kind === 'terminal') return { bytes: Buffer.alloc(0), end: 'terminal' };
  if (kind === 'stream' && !makeNonBlocking(0)) return fromStream(bounds, isWhole);
  const kept = keeper(bounds.keepBytes);
  const chunk = Buffer.allocUnsafe(CHUNK);
  const started = monotonicMs();
  for (let asked = false; ;) {
    const got = tryRead(0, chunk);
    if (got === 0) return kept.result('end');
    if (got !== undefined) {
      kept.add(chunk.subarray(0, got));
      asked = false;
      // A writer without an end is left after the same time as one that is silent.
      if (monotonicMs() - started < bounds.endMs) continue;
    } else if (!asked && kept.some()) {
      asked = true;
      if (kept.isWhole(isWhole)) return kept.result('whole');
    }
    const limit = kept.some() ? bounds.endMs : bounds.firstByteMs;
    if (monotonicMs() - started >= limit) return kept.result('late');
    pause(PAUSE_MS);
  }
}

/**
 * All of stdin, however long it takes to come: the text that another program pipes in. Undefined when a person's
 * terminal is at the other end. Of what is longer than `keepBytes` the rest is dropped, and `cut` is set.
 */
export async function readPipedStdin(
  keepBytes: number,
): Promise<{ bytes: Buffer; cut: boolean } | undefined> {
  if (kindOfStdin() === 'terminal') return undefined;
  const kept = keeper(keepBytes);
  for await (const chunk of process.stdin) kept.add(chunk as Buffer);
  const { bytes, end } = kept.result('end');
  return { bytes, cut: end === 'large' };
}

function kindOfStdin(): 'file' | 'stream' | 'terminal' {
  try {
    const facts = fstatSync(0);
    if (facts.isFile() || facts.isDirectory()) return 'file';
    // /dev/null is one too, and reads as empty; a terminal would wait for a person.
    if (facts.isCharacterDevice())
      return process.getBuiltinModule('node:tty').isatty(0) ? 'terminal' : 'file';
    return 'stream';
  } catch (error) {
    // Started with stdin closed.
    if (errnoCode(error) === 'EBADF') return 'terminal';
    throw error;
  }
}

interface Keeper {
  add(chunk: Buffer): void;
  some(): boolean;
  isWhole(test: (bytes: Buffer) => boolean): boolean;
  result(end: StdinRead['end']): StdinRead;
}

function keeper(keepBytes: number): Keeper {
  let parts: Buffer[] = [];
  let length = 0;
  let dropped = false;
  const joined = (): Buffer => {
    if (parts.length !== 1) parts = [Buffer.concat(parts)];
    return parts[0] as Buffer;
  };
  return {
    add(chunk) {
      const room = Math.max(0, keepBytes - length);
      if (room < chunk.length) dropped = true;
      if (room === 0) return;
      // A copy, which Buffer's own `slice` is not.
      parts.push(Uint8Array.prototype.slice.call(chunk, 0, room) as Buffer);
      length += Math.min(room, chunk.length);
    },
    some: () => length > 0,
    isWhole: (test) => !dropped && test(joined()),
    result: (end) => ({ bytes: joined(), end: dropped ? 'large' : end }),
  };
}

function fromStream(bounds: StdinBounds, isWhole: (bytes: Buffer) => boolean): Promise<StdinRead> {
  const { stdin } = process;
  const kept = keeper(bounds.keepBytes);
  return new Promise((resolve, reject) => {
    const finish = (end: StdinRead['end']): void => {
      clearTimeout(first);
      clearTimeout(last);
      stdin.removeAllListeners();
      stdin.pause();
      // Else an open pipe keeps the process alive.
      stdin.unref();
      resolve(kept.result(end));
    };
    const first = setTimeout(() => {
      if (!kept.some()) finish('late');
    }, bounds.firstByteMs);
    const last = setTimeout(() => finish('late'), bounds.endMs);
    stdin.on('data', (chunk: Buffer) => {
      kept.add(chunk);
      if (kept.isWhole(isWhole)) finish('whole');
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

/** Is stdin a terminal, at which a person sits? */
export function isTerminalInput(): boolean {
  return process.stdin.isTTY;
}

const LF = 0x0a;

/**
 * The lines of stdin that are not blank, each in one piece with its end; the stream closes with stdin. Of a line that is longer than
 * `maxBytes` nothing is kept: `onLong` is called in its place, as soon as that is known.
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
        const isLong = size > maxBytes;
        size += piece.length;
        if (size <= maxBytes) parts.push(piece);
        else {
          parts = [];
          if (!isLong) onLong();
        }
        if (feed === -1) continue;
        if (size <= maxBytes && parts.some(hasText)) this.push(Buffer.concat(parts));
        parts = [];
        size = 0;
      }
      done();
    },
    // The last line may lack its end.
    flush(done) {
      if (parts.some(hasText)) this.push(Buffer.concat([...parts, Buffer.of(LF)]));
      done();
    },
  });
  // A pipe that breaks destroys the lines, which is their end, too.
  pipeline(process.stdin, lines, () => undefined);
  return lines;
}

/** More than blanks, tabs and line ends. */
function hasText(piece: Buffer): boolean {
  return piece.some((byte) => byte !== 0x20 && byte !== 0x09 && byte !== 0x0d && byte !== LF);
}
