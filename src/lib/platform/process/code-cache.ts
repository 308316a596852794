import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import nodeModule from 'node:module';
import { basename, dirname, join } from 'node:path';
import { Script, constants as vmConstants } from 'node:vm';

import { makeFolders } from '../files/folder';
import { cachePath } from '../files/paths';
import { shortHash } from '../files/short-hash';

type Load = (id: string) => unknown;

interface BundleInput {
  folder: string;
  /** Identifies the content of all bundles. V8 would accept cached code for any source of the same length. */
  build: string;
  /**
   * The kind of run, such as a command's name. V8 caches only functions that ran, so each kind has its own
   * cache.
   */
  kind: string;
  /** The `require` function of a module in `folder`. */
  native: Load;
  /**
   * Names of bundles that this run barely uses, and whose code is not worth caching. The set is filled during
   * the run and read at exit.
   */
  unused?: ReadonlySet<string>;
}

/** Maximum number of folders, each for one build and `kind`. Two builds may use the cache in turns. */
const MAX_FOLDERS = 32;
/**
 * Maximum duration of a run whose code is cached. In longer runs, V8 discards the code of functions that
 * haven't run for a while.
 */
const MAX_RUN_MS = 30_000;

/**
 * Returns a `require` that caches V8's compiled code in a private folder, using Node's own cache if
 * available. Caching errors are ignored. `STEWARD_NO_CODE_CACHE=1` turns caching off.
 */
export function bundleLoader(input: BundleInput): Load {
  const cache = isOff() ? undefined : cacheFolder(input);
  if (cache === undefined) return input.native;
  // The installed types are for the oldest supported Node.js, which lacks `enableCompileCache`.
  const { enableCompileCache } = nodeModule as { enableCompileCache?: (folder: string) => unknown };
  if (enableCompileCache === undefined) return ownLoader(input, cache);
  const made = madePrivate(cache);
  if (made === undefined) return input.native;
  enableCompileCache(cache);
  process.once('exit', () => {
    // Node writes the cache after this handler runs, and only if the folder still exists.
    const [first] = made;
    if (first === undefined) return;
    if (isOff()) rmSync(first, { recursive: true, force: true });
    // Removes the whole cache, because Node can't exclude individual modules from it.
    else if ((input.unused?.size ?? 0) > 0) rmSync(cache, { recursive: true, force: true });
  });
  return input.native;
}

/**
 * Returns whether caching is turned off: by an uninstall and in the demo, because they must not leave files
 * behind.
 */
function isOff(): boolean {
  return process.env['STEWARD_NO_CODE_CACHE'] === '1' || process.argv[2] === 'demo';
}

function cacheFolder({ build, kind }: BundleInput): string | undefined {
  const options = [process.env['NODE_OPTIONS'] ?? '', ...process.execArgv, kind].join('\0');
  try {
    return join(cachePath(), 'code', `${build}-${process.version}-${process.arch}-${shortHash(options)}`);
  } catch {
    return undefined;
  }
}

/** Creates a private cache folder. Returns the folders that it created, or undefined on failure. */
function madePrivate(folder: string): string[] | undefined {
  try {
    const made = makeFolders(folder);
    if (!isPrivateFolder(folder)) return undefined;
    if (made.length > 0) prune(dirname(folder));
    return made;
  } catch {
    return undefined;
  }
}

/** Removes the oldest caches if there are too many. */
function prune(folder: string): void {
  const caches = readdirSync(folder)
    .map((name) => join(folder, name))
    .map((path) => ({ path, mtimeMs: lstatSync(path).mtimeMs }))
    .sort((a, b) => b.mtimeMs - a.mtimeMs);
  for (const { path } of caches.slice(MAX_FOLDERS)) rmSync(path, { recursive: true, force: true });
}

function ownLoader({ folder, native, unused }: BundleInput, cache: string): Load {
  const loaded = new Map<string, { exports: unknown }>();
  const load = (path: string): unknown => {
    const known = loaded.get(path);
    if (known !== undefined) return known.exports;
    const module: { exports: unknown } = { exports: {} };
    loaded.set(path, module);
    const file = join(cache, `${basename(path, '.js')}.bin`);
    const script = compile(path, file, () => unused?.has(basename(path)) !== true);
    const run = script.runInThisContext() as (...args: unknown[]) => void;
    run.call(module.exports, module.exports, requireIn(dirname(path)), module, path, dirname(path));
    return module.exports;
  };
  const requireIn =
    (from: string): Load =>
    (id) =>
      id.startsWith('.') ? load(join(from, id)) : native(id);
  return requireIn(folder);
}

/**
 * Compiles a bundle, using cached code if possible. If the cache is missing or invalid, writes it at exit.
 */
function compile(path: string, file: string, isUsed: () => boolean): Script {
  const source = sourceOf(path);
  const cachedData = readCode(file);
  const script = new Script(source, {
    filename: path,
    cachedData,
    importModuleDynamically: vmConstants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  if (cachedData === undefined || script.cachedDataRejected === true) {
    process.once('exit', () => {
      if (performance.now() < MAX_RUN_MS && !isOff() && isUsed()) keepCode(script, file);
    });
  }
  return script;
}

/** Files are read into the same memory one after another, because new memory is slow. */
let memory = Buffer.allocUnsafe(1024 * 1024);

function room(size: number): Buffer {
  if (memory.length < size) memory = Buffer.allocUnsafe(size);
  return memory.subarray(0, size);
}

const HEAD = '(function (exports, require, module, __filename, __dirname) {';
const TAIL = '\n})';

/** Returns a bundle as a function. Joins its parts as bytes, because V8 copies a joined string once more. */
function sourceOf(path: string): string {
  const fd = openSync(path, 'r');
  try {
    const end = HEAD.length + fstatSync(fd).size;
    const bytes = room(end + TAIL.length);
    bytes.write(HEAD);
    if (readSync(fd, bytes, HEAD.length, end - HEAD.length, null) < end - HEAD.length)
      throw new Error(`${path} could not be read to its end.`);
    bytes.write(TAIL, end);
    // Bundles contain only ASCII, so decode them as Latin-1, which V8 stores with one byte per character.
    return bytes.toString('latin1');
  } finally {
    closeSync(fd);
  }
}

function keepCode(script: Script, file: string): void {
  const temp = `${file}.${process.pid}.tmp`;
  if (madePrivate(dirname(file)) === undefined) return;
  try {
    const code = script.createCachedData();
    writeSynced(temp, Buffer.concat([code, code]));
    renameSync(temp, file);
  } catch {
    rmSync(temp, { force: true });
  }
}

function writeSynced(path: string, bytes: Buffer): void {
  const fd = openSync(path, 'wx', 0o600);
  try {
    writeFileSync(fd, bytes);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Returns the cached code, or undefined if the file isn't private or is damaged. Detects damage by comparing
 * two copies, because V8 crashes on damaged code and a checksum would take 2 ms.
 */
function readCode(file: string): Buffer | undefined {
  try {
    if (!isPrivateFolder(dirname(file))) return undefined;
    const fd = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    try {
      const facts = fstatSync(fd);
      if (!facts.isFile() || !isPrivate(facts)) return undefined;
      const code = room(facts.size / 2);
      return readSync(fd, code) === code.length && isRepeated(fd, code) ? code : undefined;
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

const PIECE_BYTES = 64 * 1024;

/** Returns whether the rest of a file is the same as `code`. Reads it in pieces, because new memory is slow. */
function isRepeated(fd: number, code: Buffer): boolean {
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  let at = 0;
  while (at < code.length) {
    const count = readSync(fd, piece);
    if (count === 0 || code.compare(piece, 0, count, at, at + count) !== 0) return false;
    at += count;
  }
  return at > 0;
}

/** Returns whether only this user can write to a file or folder. Always true on Windows. */
function isPrivate(facts: { uid: number; mode: number }): boolean {
  if (process.getuid === undefined) return true;
  return facts.uid === process.getuid() && (facts.mode & 0o022) === 0;
}

function isPrivateFolder(path: string): boolean {
  return [path, dirname(path)].every((folder) => {
    const facts = lstatSync(folder);
    return facts.isDirectory() && isPrivate(facts);
  });
}
