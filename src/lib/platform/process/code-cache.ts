import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
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

export interface BundleInput {
  /** Where the bundles are. */
  folder: string;
  /** Names the bytes of all of them: V8 takes compiled code for any source of the same length. */
  build: string;
  /** What this run does, such as the words of its command: V8 keeps the functions that a run has called. */
  kind: string;
  /** The `require` of a module in the folder. */
  native: Load;
}

/** Kinds of run that the cache has code of, each in a folder of its own. */
const MAX_KINDS = 24;
/** V8 drops functions that have not run for long: the code of a server would be poor. */
const MAX_RUN_MS = 30_000;

/**
 * A `require` for the bundles of a build that keeps V8's compiled code in a private folder: Node's own cache where Node
 * has one, else ours. Anything wrong with the cache means a run without it. `STEWARD_NO_CODE_CACHE=1` leaves it alone.
 */
export function bundleLoader(input: BundleInput): Load {
  const cache = isOff() ? undefined : cacheFolder(input);
  if (cache === undefined) return input.native;
  // The types are those of the oldest Node, which has no such function.
  const { enableCompileCache } = nodeModule as { enableCompileCache?: (folder: string) => unknown };
  if (enableCompileCache === undefined) return ownLoader(input, cache);
  const made = madePrivate(cache, input.build);
  if (made === undefined) return input.native;
  enableCompileCache(cache);
  process.once('exit', () => {
    // Node writes after this, into a folder that is there only.
    if (isOff() && made[0] !== undefined) rmSync(made[0], { recursive: true, force: true });
  });
  return input.native;
}

/** A run that finds that nothing is to be left behind says so by the same variable, before its end. */
function isOff(): boolean {
  return process.env['STEWARD_NO_CODE_CACHE'] === '1';
}

function cacheFolder({ build, kind }: BundleInput): string | undefined {
  const options = [process.env['NODE_OPTIONS'] ?? '', ...process.execArgv, kind].join('\0');
  try {
    const { version, arch } = process;
    return join(cachePath(), 'code', `${build}-${version}-${arch}-${shortHash(options)}`);
  } catch {
    // The system knows no home folder of this user.
    return undefined;
  }
}

/** Makes the folder if it is missing and returns the folders made; undefined where it is not, or not private. */
function madePrivate(folder: string, build: string): string[] | undefined {
  try {
    const made = makeFolders(folder);
    if (!isPrivateFolder(folder)) return undefined;
    if (made.length > 0) prune(dirname(folder), build);
    return made;
  } catch {
    return undefined;
  }
}

/** Removes what other builds left, and the oldest beyond the bound. */
function prune(folder: string, build: string): void {
  const kept = readdirSync(folder)
    .map((name) => ({ name, path: join(folder, name), mtimeMs: lstatSync(join(folder, name)).mtimeMs }))
    .sort((a, b) => b.mtimeMs - a.mtimeMs)
    .filter(({ name }) => name.startsWith(`${build}-`))
    .slice(0, MAX_KINDS)
    .map(({ name }) => name);
  for (const name of readdirSync(folder))
    if (!kept.includes(name)) rmSync(join(folder, name), { recursive: true, force: true });
}

function ownLoader({ folder, build, native }: BundleInput, cache: string): Load {
  const loaded = new Map<string, { exports: unknown }>();
  const load = (path: string): unknown => {
    const known = loaded.get(path);
    if (known !== undefined) return known.exports;
    const module: { exports: unknown } = { exports: {} };
    loaded.set(path, module);
    const script = compile(path, join(cache, `${basename(path, '.js')}.bin`), build);
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

/** Compiles a bundle with the code that an earlier run kept; else this run keeps it at its exit. */
function compile(path: string, file: string, build: string): Script {
  const cachedData = readCode(file);
  // The build writes ASCII: as Latin-1, V8 keeps it in one byte a character.
  const source = readFileSync(path).toString('latin1');
  const script = new Script(`(function (exports, require, module, __filename, __dirname) {${source}\n})`, {
    filename: path,
    cachedData,
    importModuleDynamically: vmConstants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  if (cachedData === undefined || script.cachedDataRejected === true) {
    process.once('exit', () => {
      if (performance.now() < MAX_RUN_MS && !isOff()) keepCode(script, file, build);
    });
  }
  return script;
}

function keepCode(script: Script, file: string, build: string): void {
  const temp = `${file}.${process.pid}.tmp`;
  if (madePrivate(dirname(file), build) === undefined) return;
  try {
    const code = script.createCachedData();
    writeSynced(temp, Buffer.concat([code, code]));
    renameSync(temp, file);
  } catch {
    // A full disk; the next run tries again, and nobody is to be told.
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
 * The code in a file that only this user can have written. It is there twice, and undefined when the copies differ: V8
 * crashes on damaged code. To compare them takes no time; a checksum would take a hook 2 ms.
 */
function readCode(file: string): Buffer | undefined {
  try {
    if (!isPrivateFolder(dirname(file))) return undefined;
    const fd = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    try {
      const facts = fstatSync(fd);
      if (!facts.isFile() || !isPrivate(facts)) return undefined;
      const bytes = readFileSync(fd);
      const code = bytes.subarray(0, bytes.length / 2);
      return code.length > 0 && code.equals(bytes.subarray(code.length)) ? code : undefined;
    } finally {
      closeSync(fd);
    }
  } catch {
    // Not there yet, or not readable.
    return undefined;
  }
}

/** Owned by this user and writable by nobody else. Windows keeps its folder private by itself. */
function isPrivate(facts: { uid: number; mode: number }): boolean {
  if (process.getuid === undefined) return true;
  return facts.uid === process.getuid() && (facts.mode & 0o022) === 0;
}

/** The folder of a kind of run, and the one of them all. */
function isPrivateFolder(path: string): boolean {
  return [path, dirname(path)].every((folder) => {
    const facts = lstatSync(folder);
    return facts.isDirectory() && isPrivate(facts);
  });
}
