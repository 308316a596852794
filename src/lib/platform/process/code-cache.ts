import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Script, constants as vmConstants } from 'node:vm';

import { cachePath } from '../files/paths';
import { shortHash } from '../files/short-hash';

/** The bundles of a build: path relative to the folder of the launcher (`./cli.js`) to a hash of its bytes. */
export type Bundles = Readonly<Record<string, string>>;

/** Keeps the compiled code of a bundle in a file of the cache, with the kinds of run whose functions it has. */
export type Keep = (script: Script, kinds: string, file: string, bundles: Bundles) => void;

type Load = (id: string) => unknown;

/** Kinds of run whose functions one file gathers. */
const MAX_KINDS = 64;
/** V8 throws functions away that have not run for long: a server's cache would be poor. */
const MAX_RUN_MS = 30_000;
/** Of a kind's hash, as a file of the cache notes it. */
export const KIND_LENGTH = 8;
export const CHECKSUM_BYTES = 4;
/** Of FNV-1a. */
const PRIME = 0x01000193;
const HOT_BUNDLES = './hot/';

/**
 * A `require` for the bundles of a build that keeps V8's compiled code between runs, in a private folder
 * of the user's cache. What is executed always comes from the bundle: V8 takes compiled code only for a
 * source of the same length, its own version and flags, so the name carries the bundle's hash, too.
 * V8 executes damaged code and crashes, so a checksum is verified first. Anything that is wrong with the cache means
 * a run without it, which then writes it again. `STEWARD_NO_CODE_CACHE=1` leaves it alone.
 *
 * V8 compiles a function when it is first called: what one command leaves is of less use to another. So
 * each file notes the kinds of run that it has seen, and the first run of another kind adds its functions. A hot
 * bundle has a file for each kind: what a hook of another kind calls would be read at each run, for nothing.
 *
 * Every run waits for this file to be compiled: what only some need of the cache is in `code-cache-keep.ts`.
 *
 * @param folder where the bundles are
 * @param kind what this run does, such as the words of its command
 * @param native what loads everything else
 * @param keep what keeps a bundle's compiled code; called at the end of a run that has some to keep
 */
export function bundleLoader(
  folder: string,
  bundles: Bundles,
  kind: string,
  native: Load,
  keep: () => Keep,
): Load {
  const cache = isOff() ? undefined : cacheFolder();
  const loaded = new Map<string, { exports: unknown }>();
  const load: Load = (id) => {
    const known = loaded.get(id);
    if (known !== undefined) return known.exports;
    const hash = bundles[id];
    if (hash === undefined) return native(id);
    const module: { exports: unknown } = { exports: {} };
    loaded.set(id, module);
    const file = cache === undefined ? undefined : join(cache, cacheName(id, hash, kind));
    const filename = join(folder, id);
    const script = compile(filename, file, shortHash(kind), (made, kinds) => {
      if (file !== undefined) keep()(made, kinds, file, bundles);
    });
    const run = script.runInThisContext() as (...args: unknown[]) => void;
    run.call(module.exports, module.exports, load, module, filename, dirname(filename));
    return module.exports;
  };
  return load;
}

/** Asked again at the end: a run that finds that nothing is to be left behind says so by the same variable. */
function isOff(): boolean {
  return process.env['STEWARD_NO_CODE_CACHE'] === '1';
}

/** Compiles a bundle with what earlier runs left; at the exit `save` gets what is worth keeping of this one. */
function compile(
  filename: string,
  cacheFile: string | undefined,
  kind: string,
  save: (script: Script, kinds: string) => void,
): Script {
  const cached = cacheFile === undefined ? undefined : unpack(readPrivate(cacheFile));
  // The build writes ASCII: as Latin-1, V8 keeps it in one byte a character.
  const source = readSource(filename).toString('latin1');
  const script = new Script(`(function (exports, require, module, __filename, __dirname) {${source}\n})`, {
    filename,
    cachedData: cached?.code,
    importModuleDynamically: vmConstants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const seen = cached === undefined || script.cachedDataRejected === true ? '' : cached.kinds;
  if (!hasKind(seen, kind) && seen.length < MAX_KINDS * KIND_LENGTH) {
    process.once('exit', () => {
      if (performance.now() < MAX_RUN_MS && !isOff()) save(script, seen + kind);
    });
  }
  return script;
}

/**
 * A file of the cache: V8's data first, because V8 wants it aligned; then the kinds, a byte with their count, and the
 * checksum of it all. Undefined when the file is damaged.
 */
function unpack(bytes: Buffer | undefined): { code: Buffer; kinds: string } | undefined {
  if (bytes === undefined || bytes.length <= CHECKSUM_BYTES) return undefined;
  const sumAt = bytes.length - CHECKSUM_BYTES;
  if (bytes.readInt32LE(sumAt) !== checksum(bytes.subarray(0, sumAt))) return undefined;
  const end = sumAt - 1;
  const count = bytes[end] ?? 0;
  const start = end - count * KIND_LENGTH;
  return { code: bytes.subarray(0, start), kinds: bytes.toString('latin1', start, end) };
}

/**
 * 32 bits that any single changed word changes. Eight words a step, since every run pays for the loop before V8 has
 * optimized it; loading `node:zlib` for its crc32 costs more than a millisecond.
 */
export function checksum(bytes: Buffer): number {
  const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
  const whole = words.length & ~7;
  let sum = bytes.length;
  for (let at = 0; at < whole; at += 8) {
    sum = Math.imul(sum ^ (words[at] as number), PRIME);
    sum = Math.imul(sum ^ (words[at + 1] as number), PRIME);
    sum = Math.imul(sum ^ (words[at + 2] as number), PRIME);
    sum = Math.imul(sum ^ (words[at + 3] as number), PRIME);
    sum = Math.imul(sum ^ (words[at + 4] as number), PRIME);
    sum = Math.imul(sum ^ (words[at + 5] as number), PRIME);
    sum = Math.imul(sum ^ (words[at + 6] as number), PRIME);
    sum = Math.imul(sum ^ (words[at + 7] as number), PRIME);
  }
  for (let at = whole * 4; at < bytes.length; at += 1) sum = Math.imul(sum ^ (bytes[at] as number), PRIME);
  return sum;
}

function hasKind(kinds: string, kind: string): boolean {
  for (let at = kinds.indexOf(kind); at !== -1; at = kinds.indexOf(kind, at + 1)) {
    if (at % KIND_LENGTH === 0) return true;
  }
  return false;
}

function readSource(path: string): Buffer {
  const fd = openSync(path, constants.O_RDONLY);
  try {
    return readWhole(fd, fstatSync(fd).size);
  } finally {
    closeSync(fd);
  }
}

/** A file's bytes; `readFileSync` takes twice the time for the same. */
function readWhole(fd: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  let done = 0;
  for (let got = -1; got !== 0 && done < bytes.length; done += got) {
    got = readSync(fd, bytes, done, bytes.length - done, done);
  }
  return bytes.subarray(0, done);
}

function cacheFolder(): string | undefined {
  try {
    return join(cachePath(), 'code');
  } catch {
    // No home folder at all (a user that the system does not know): nowhere to keep anything.
    return undefined;
  }
}

/** `cli-<hash>-<node version>-<arch>-<options>.bin`. */
function cacheName(id: string, hash: string, kind: string): string {
  const own = id.startsWith(HOT_BUNDLES) ? [kind] : [];
  const options = [process.env['NODE_OPTIONS'] ?? '', ...process.execArgv, ...own].join('\0');
  return `${stem(id)}-${hash}-${process.version}-${process.arch}-${shortHash(options)}.bin`;
}

/** `./hot/hook.js` → `hot.hook`: what the names of its files begin with. */
export function stem(id: string): string {
  return id.slice('./'.length, -'.js'.length).replaceAll('/', '.');
}

interface Ownership {
  uid: number;
  mode: number;
}

/** Owned by this user and writable by nobody else. Windows keeps its folder private by itself. */
function isPrivate(facts: Ownership): boolean {
  if (process.getuid === undefined) return true;
  return facts.uid === process.getuid() && (facts.mode & 0o022) === 0;
}

export function isPrivateFolder(path: string): boolean {
  const facts = lstatSync(path);
  return facts.isDirectory() && isPrivate(facts);
}

/** The bytes of a file that only this user can have written, in a folder of which the same is true. */
function readPrivate(file: string): Buffer | undefined {
  try {
    if (!isPrivateFolder(dirname(file))) return undefined;
    const fd = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    try {
      const facts = fstatSync(fd);
      return facts.isFile() && isPrivate(facts) ? readWhole(fd, facts.size) : undefined;
    } finally {
      closeSync(fd);
    }
  } catch {
    // Not there yet, or not readable: this run compiles.
    return undefined;
  }
}
