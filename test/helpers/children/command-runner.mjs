// Runs command lines of the built program one after another in this process, because most of the time of a
// short command is the start of its process. Each gets fresh modules, and its own environment, folder and streams.
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { Script, constants } from 'node:vm';

const [, , bin] = process.argv;
const main = join(dirname(dirname(bin)), 'dist', 'main.js');
const scripts = new Map();

/** Returns a function that loads a module and what it requires; only compiled code is shared with earlier ones. */
function freshLoader() {
  const loaded = new Map();
  return function load(path) {
    const known = loaded.get(path);
    if (known !== undefined) return known.exports;
    const made = { exports: {} };
    loaded.set(path, made);
    const native = createRequire(path);
    const require = (id) => (id.startsWith('.') ? load(native.resolve(id)) : native(id));
    const run = compiled(path).runInThisContext();
    run.call(made.exports, made.exports, Object.assign(require, native), made, path, dirname(path));
    return made.exports;
  };
}

function compiled(path) {
  const known = scripts.get(path);
  if (known !== undefined) return known;
  const text = readFileSync(path, 'latin1');
  const script = new Script(`(function (exports, require, module, __filename, __dirname) {${text}\n})`, {
    filename: path,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  scripts.set(path, script);
  return script;
}

function redirect(fd, path, flags) {
  closeSync(fd);
  if (openSync(path, flags) !== fd) throw new Error(`File descriptor ${fd} is in use.`);
}

function setStreams() {
  const make = { stdin: input, stdout: () => output(1), stderr: () => output(2) };
  for (const [name, create] of Object.entries(make)) {
    let stream;
    Object.defineProperty(process, name, { configurable: true, get: () => (stream ??= create()) });
  }
}

function input() {
  const bytes = readFileSync(0);
  return Object.assign(Readable.from(bytes.length > 0 ? [bytes] : []), { fd: 0 });
}

function output(fd) {
  const write = (chunk, _encoding, done) => {
    for (let rest = chunk; rest.length > 0;) rest = rest.subarray(writeSync(fd, rest));
    done();
  };
  return Object.assign(new Writable({ write }), { fd });
}

let running;

function run(call) {
  try {
    prepare(call);
  } catch (error) {
    // Nothing has run yet, so another process can take the command.
    process.send({ refused: String(error) });
    return;
  }
  // The loader above takes the place of the code cache.
  process.env.STEWARD_NO_CODE_CACHE = '1';
  freshLoader()(main);
  if (call.env.STEWARD_NO_CODE_CACHE === undefined) delete process.env.STEWARD_NO_CODE_CACHE;
}

function prepare({ args, env, cwd, files }) {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  redirect(0, files.stdin, 'r');
  redirect(1, files.stdout, 'a');
  redirect(2, files.stderr, 'a');
  setStreams();
  process.argv = [process.execPath, bin, ...args];
  process.exitCode = undefined;
  running = { resources: process.getActiveResourcesInfo().length, listeners: listeners() };
  // Without it, the event loop is empty when the command has ended.
  process.channel.unref();
}

function listeners() {
  return new Map(process.eventNames().map((name) => [name, process.listeners(name)]));
}

/** Ends the command, as `process.exit` or an empty event loop would end its process. */
function end() {
  if (running === undefined) return;
  const { resources, listeners: before } = running;
  running = undefined;
  const code = Number(process.exitCode ?? 0);
  for (const [name, now] of listeners()) {
    const added = now.filter((listener) => before.get(name)?.includes(listener) !== true);
    for (const listener of added) {
      if (name === 'exit') listener(code);
      process.off(name, listener);
    }
  }
  process.chdir('/');
  process.channel.ref();
  // `process.exit` returns here: what comes after it must not act during the next command.
  setImmediate(() => setImmediate(answer, code, resources));
}

function answer(code, resources) {
  process.send({ code, isClean: process.getActiveResourcesInfo().length <= resources });
}

const exit = process.exit.bind(process);
process.exit = (code) => {
  if (code !== undefined) process.exitCode = code;
  end();
};
process.on('beforeExit', end);
process.on('disconnect', () => exit());
process.on('message', run);
