import { expect } from 'chai';
import { getEventListeners } from 'node:events';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';

import { StewardError } from '../../../../src/lib/errors';
import { isAlive } from '../../../../src/lib/platform/files/lock';
import { run, type RunOptions } from '../../../../src/lib/platform/process/process';
import { scratch } from '../../../helpers/scratch';
import { script } from '../../../helpers/speech';

const node = (script: string, options: Partial<RunOptions> = {}) =>
  run(process.execPath, ['-e', script], { timeoutMs: 20_000, ...options });

async function failure(work: Promise<unknown>): Promise<StewardError> {
  try {
    await work;
  } catch (error) {
    expect(error).to.be.instanceOf(StewardError);
    return error as StewardError;
  }
  return expect.fail('it did not fail');
}

describe('platform/process', () => {
  const box = scratch();

  it('gives the output, the exit code and no more', async () => {
    expect(
      await node('process.stdout.write("out ö"); process.stderr.write("err"); process.exitCode = 3'),
    ).to.deep.equal({
      code: 3,
      signal: null,
      stdout: 'out ö',
      stderr: 'err',
      truncated: false,
      timedOut: false,
    });
  });

  it('uses no shell', async () => {
    const argument = '$(echo x); `echo y` "a b" *';
    const result = await run(process.execPath, ['-p', 'process.argv[1]', argument], { timeoutMs: 20_000 });
    expect(result.stdout.trim()).to.equal(argument);
  });

  it('gives the environment that it is told, and only that', async () => {
    const result = await node('console.log(process.env.ONE, process.env.HOME)', { env: { ONE: '1' } });
    expect(result.stdout).to.equal('1 undefined\n');
  });

  it('tells the signal that ended it', async () => {
    const result = await node('process.kill(process.pid, "SIGTERM"); setInterval(() => {}, 1000)');
    expect(result).to.include({ code: null, signal: 'SIGTERM', timedOut: false });
  });

  for (const stream of ['stdout', 'stderr']) {
    it(`stops a program that prints too much on ${stream}, at once`, async () => {
      const script = `const pour = () => process.${stream}.write("x".repeat(65536), pour); pour()`;
      const error = await failure(node(script, { maxBytes: 100_000, timeoutMs: 600_000 }));
      expect(error.kind).to.equal('unavailable');
      expect(error.message).to.equal(`${process.execPath} printed more than 100000 bytes and was stopped.`);
    });
  }

  it('counts an output that ended by itself the same way', async () => {
    expect(await node('process.stdout.write("12345")', { maxBytes: 5 })).to.include({ stdout: '12345' });
    const error = await failure(node('process.stdout.write("123456")', { maxBytes: 5 }));
    expect(error.message).to.include('printed more than 5 bytes');
  });

  it('gives it a large input', async () => {
    const script =
      'let n = 0; process.stdin.on("data", (c) => (n += c.length)).on("end", () => console.log(n))';
    expect((await node(script, { input: Buffer.alloc(20_000_000) })).stdout).to.equal('20000000\n');
  });

  it('does not mind a program that does not read its input', async () => {
    expect((await node('process.exit(7)', { input: Buffer.alloc(5_000_000) })).code).to.equal(7);
  });

  it('gives an empty input when there is none', async () => {
    const script = 'process.stdin.on("data", () => {}).on("end", () => console.log("end"))';
    expect((await node(script)).stdout).to.equal('end\n');
  });

  it('says what is not installed, and what to do', async () => {
    const error = await failure(run('steward-no-such-program', [], { timeoutMs: 1000 }));
    expect(error).to.include({ kind: 'not_found' });
    expect(error.message).to.equal('steward-no-such-program is not installed or not on the PATH.');
    expect(error.hint).to.include('PATH');
  });

  it('starts no program of the current folder, nor does a shell that it starts', async function () {
    if (process.platform === 'win32') this.skip();
    script(box.path('canary'), 'echo ran');
    const tried = (PATH: string, file: string, ...args: string[]) =>
      run(file, args, { timeoutMs: 20_000, cwd: box.path(), env: { PATH } });
    for (const PATH of ['', ':', '.', '.:relative', `.::${process.env['PATH']}:`]) {
      for (const file of ['canary', './canary']) {
        const error = await failure(tried(PATH, file));
        expect(error.message, PATH).to.equal(`${file} is not installed or not on the PATH.`);
      }
      expect(await tried(PATH, '/bin/sh', '-c', 'canary'), PATH).to.include({ code: 127, stdout: '' });
    }
  });

  it('tells a missing folder from a missing program', async () => {
    for (const cwd of [box.path('none'), __filename]) {
      const error = await failure(node('', { cwd }));
      expect(error.kind).to.equal('not_found');
      expect(error.message).to.equal(`The folder ${cwd} does not exist.`);
    }
  });

  it('says what cannot be started', async function () {
    if (process.platform === 'win32') this.skip();
    writeFileSync(box.path('program'), '#!/bin/sh\n');
    chmodSync(box.path('program'), 0o644);
    const error = await failure(run(box.path('program'), [], { timeoutMs: 1000 }));
    expect(error.kind).to.equal('unavailable');
    expect(error.hint).to.include('executable');
    const tooLong = await failure(run('true', ['x'.repeat(10_000_000)], { timeoutMs: 1000 }));
    expect(tooLong.kind).to.equal('unavailable');
  });

  it('takes any time-out, also one that is longer than a timer can be', async () => {
    const patient = await node('setTimeout(() => console.log("done"), 50)', {
      timeoutMs: Number.POSITIVE_INFINITY,
    });
    expect(patient).to.include({ stdout: 'done\n', timedOut: false });
  });

  describe('with processes in groups', () => {
    before(function () {
      if (process.platform === 'win32') this.skip();
    });
    const sh = (script: string, timeoutMs: number) => run('sh', ['-c', script], { timeoutMs });
    /** Resolves once the process has ended; the test's own time-out is the bound. */
    async function ended(pid: number): Promise<void> {
      while (isAlive(pid) && !isZombie(pid)) await new Promise(setImmediate);
    }
    /** Nobody may wait for an orphan: a container has not always an init. */
    function isZombie(pid: number): boolean {
      const path = `/proc/${pid}/stat`;
      return existsSync(path) && / [ZX] /.test(readFileSync(path, 'latin1'));
    }

    it('kills the program and its children at the time-out, and gives what was said before', async () => {
      const result = await sh('sleep 600 & echo $!; sleep 600 & echo $!; wait', 3000);
      expect(result).to.include({ code: null, signal: 'SIGKILL', timedOut: true });
      const pids = result.stdout.trim().split('\n').map(Number);
      expect(pids).to.have.length(2);
      for (const pid of pids) await ended(pid);
    });

    it('kills the program and its children when it is told to stop, also before it began', async () => {
      const stop = new AbortController();
      const path = box.path('pid');
      const running = run('sh', ['-c', 'sleep 60 & echo $! >"$0.new"; mv "$0.new" "$0"; wait', path], {
        timeoutMs: 60_000,
        signal: stop.signal,
      });
      while (!existsSync(path)) await new Promise((resolve) => setTimeout(resolve, 5));
      stop.abort();
      expect(await running).to.include({ code: null, signal: 'SIGKILL', timedOut: false });
      await ended(Number(readFileSync(path, 'utf8')));
      const late = await run('sleep', ['60'], { timeoutMs: 60_000, signal: stop.signal });
      expect(late).to.include({ signal: 'SIGKILL', timedOut: false });
    });

    it('kills the children of a program that prints too much', async () => {
      const path = box.path('pid');
      const flood = 'sleep 60 & echo $! >"$0"; while :; do echo yes; done';
      await failure(run('sh', ['-c', flood, path], { timeoutMs: 600_000, maxBytes: 100_000 }));
      await ended(Number(readFileSync(path, 'utf8')));
    });

    it('leaves no listener on a signal that outlives it', async () => {
      const { signal } = new AbortController();
      await run('true', [], { timeoutMs: 20_000, signal });
      await failure(run('no-such-program', [], { timeoutMs: 20_000, signal }));
      expect(getEventListeners(signal, 'abort')).to.have.length(0);
    });

    it('does not wait for a background process that holds the output open', async () => {
      const result = await sh('echo said; sleep 600 & echo $!; exit 4', 20_000);
      const [said, pid] = result.stdout.split('\n');
      // Throws if the background process has ended.
      process.kill(Number(pid), 'SIGKILL');
      expect(said).to.equal('said');
      expect(result).to.include({ code: 4, timedOut: false });
    });

    it('does not listen longer than the time-out to one that goes on talking', async () => {
      const result = await sh('(while :; do echo x; sleep 0.05; done) & echo $!; exit 0', 3000);
      process.kill(Number(result.stdout.split('\n').find((line) => /^\d+$/.test(line))), 'SIGKILL');
      expect(result).to.include({ code: 0, timedOut: false });
      expect(result.stdout).to.include('x\nx\n');
    });

    it('does not wait at the time-out for a grandchild that left the group', async function () {
      const result = await run(
        process.execPath,
        [
          '-e',
          `const c = require('node:child_process').spawn('sleep', ['600'], { detached: true, stdio: 'inherit' });
           console.log(c.pid); setInterval(() => {}, 1000);`,
        ],
        { timeoutMs: 8000 },
      );
      // Nothing said would be the number 0: the group of this process itself.
      expect(result.stdout).to.match(/^[1-9]\d*\n$/);
      // Throws if the grandchild has ended.
      process.kill(Number(result.stdout), 'SIGKILL');
      expect(result.timedOut).to.equal(true);
    });

    it('loses nothing of what lies in the pipe, however late this process looks', async () => {
      const [file, said] = [box.path('leader'), box.path('said')];
      const script = `echo $$ > ${file}; (sleep 0.1; echo late; : > ${said}; exec sleep 30) & echo $!; exit 0`;
      const running = sh(script, 20_000);
      const leader = (): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');
      while (!leader().endsWith('\n') || isAlive(Number(leader()))) await new Promise(setImmediate);
      // The exit was seen; now busy for longer than it listens after that, while the rest is written.
      do Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
      while (!existsSync(said));
      const [pid, late] = (await running).stdout.split('\n');
      process.kill(Number(pid), 'SIGKILL');
      expect(late).to.equal('late');
    });
  });
});

describe('platform: process at its time-out', () => {
  it('takes what was said by then for whole only when nobody talks on', async () => {
    const talker = '(while :; do echo x; sleep 0.01; done) & echo whole';
    const result = await run('sh', ['-c', talker], { timeoutMs: 3000 });
    expect(result.stdout).to.match(/^(x\n)*whole\n/);
    expect(result).to.include({ code: 0, timedOut: false, truncated: true });
  });
});
