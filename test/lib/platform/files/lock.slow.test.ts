import { expect } from 'chai';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { mock } from 'node:test';

import { StewardError } from '../../../../src/lib/errors';
import { systemClock } from '../../../../src/lib/platform/time/clock';
import {
  isAlive,
  withLock,
  type LockOptions,
  holderOf,
  processStart,
  type Holder,
} from '../../../../src/lib/platform/files/lock';
import { bundleChild } from '../../../helpers/bundle';
import { scratch } from '../../../helpers/scratch';

const ME = '0123456789ab';
const OTHER = 'ba9876543210';
const TOKEN = 'feedfacefeedface';
const MINUTE = 60_000;

describe('platform/lock', () => {
  const box = scratch();
  const lock = (): string => box.path('locks', 'one');
  const options = (more: Partial<LockOptions> = {}): LockOptions => ({
    clock: systemClock(),
    machineId: ME,
    waitMs: 0,
    ...more,
  });
  const held = (more: Partial<Holder> = {}): Holder => ({
    ...holderOf(process.pid, ME, Date.now(), TOKEN),
    ...more,
  });
  const put = (content: unknown): void => {
    mkdirSync(dirname(lock()), { recursive: true });
    writeFileSync(lock(), typeof content === 'string' ? content : JSON.stringify(content));
  };
  const lastSign = (afterMs: number): void => {
    const at = (Date.now() + afterMs) / 1000;
    utimesSync(lock(), at, at);
  };
  const take = (more: Partial<LockOptions> = {}): Promise<string> =>
    withLock(lock(), options(more), () => Promise.resolve('taken'));
  const refused = async (more: Partial<LockOptions> = {}): Promise<StewardError> => {
    try {
      await take(more);
    } catch (error) {
      expect(error).to.be.instanceOf(StewardError);
      return error as StewardError;
    }
    return expect.fail('the lock was taken');
  };
  /** A pid that was used and is free again. */
  const deadPid = (): number => spawnSync(process.execPath, ['-e', '']).pid;

  it('holds while it works, and leaves nothing', async () => {
    const result = await withLock(lock(), options(), async () => {
      const holder = JSON.parse(readFileSync(lock(), 'utf8')) as Holder;
      expect(holder).to.include({ pid: process.pid, machine: ME });
      expect((await refused()).kind).to.equal('locked');
      return 42;
    });
    expect(result).to.equal(42);
    expect(readdirSync(dirname(lock()))).to.deep.equal([]);
  });

  it('lets go when the work fails, with its error', async () => {
    const failure = new Error('no');
    let caught: unknown;
    await withLock(lock(), options(), () => Promise.reject(failure)).catch(
      (error: unknown) => (caught = error),
    );
    expect(caught).to.equal(failure);
    expect(existsSync(lock())).to.equal(false);
    expect(await take()).to.equal('taken');
  });

  it('runs the tasks of one process one after another', async () => {
    let inside = 0;
    let most = 0;
    const task = (): Promise<void> =>
      withLock(lock(), options({ waitMs: 10_000 }), async () => {
        inside += 1;
        most = Math.max(most, inside);
        await new Promise(setImmediate);
        inside -= 1;
      });
    await Promise.all(Array.from({ length: 20 }, task));
    expect(most).to.equal(1);
  });

  it('loses no increment among 8 processes of 200 each', async () => {
    const bundle = bundleChild('lock-loop');
    try {
      mkdirSync(box.path('locks'));
      writeFileSync(box.path('number'), '0');
      const children = Array.from({ length: 8 }, () =>
        spawn(process.execPath, [bundle.path, box.path(), '200'], { stdio: ['ignore', 'pipe', 'inherit'] }),
      );
      const said: string[] = [];
      for (const child of children) child.stdout.on('data', (chunk: Buffer) => said.push(chunk.toString()));
      await Promise.all(children.map((child) => once(child, 'close')));
      expect(children.map((child) => child.exitCode)).to.deep.equal(children.map(() => 0));
      expect(said.join('')).not.to.include('met');
      expect(readFileSync(box.path('number'), 'utf8')).to.equal('1600');
      expect(readdirSync(box.path('locks'))).to.deep.equal([]);
    } finally {
      bundle.remove();
    }
  }).timeout(60_000);

  it('says who is at work when it has waited long enough', async () => {
    put(held());
    const began = performance.now();
    const error = await refused({ waitMs: 60 });
    expect(performance.now() - began).to.be.at.least(59);
    expect(error.kind).to.equal('locked');
    expect(error.message).to.include(`Process ${process.pid} holds the lock`).and.to.include(lock());
    expect(error.hint).to.be.a('string');
  });

  it('waits by a clock that nobody sets', async () => {
    put(held());
    let wall = Date.now();
    let steady = 0;
    const clock = { now: () => (wall -= 3_600_000), monotonic: () => (steady += 10) };
    expect((await refused({ clock, waitMs: 50 })).kind).to.equal('locked');
    expect(steady).to.be.within(50, 200);
  });

  it('takes over from a process that has ended', async () => {
    put(held({ pid: deadPid() }));
    expect(await take()).to.equal('taken');
    expect(readdirSync(dirname(lock()))).to.deep.equal([]);
  });

  it('takes over from a process that was killed and that nobody has waited for', async function () {
    if (!existsSync('/proc/self/stat')) this.skip();
    // It ends only once its parent has become a program that never waits for it.
    const child = 'while [ "$(cat /proc/$PPID/comm)" != sleep ]; do :; done';
    const parent = spawn('sh', ['-c', `sh -c '${child}' & echo $!; exec sleep 60`], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    try {
      const [said] = (await once(parent.stdout, 'data')) as [Buffer];
      const pid = Number(said.toString());
      const isZombie = (): boolean => readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z');
      while (!isZombie()) await new Promise(setImmediate);
      expect(isAlive(pid)).to.equal(true);
      put(held({ pid, started: null }));
      expect(await take()).to.equal('taken');
    } finally {
      parent.kill('SIGKILL');
    }
  });

  it('takes over when the pid belongs to another process by now', async function () {
    if (holderOf(process.pid, ME, 0, TOKEN).started === null) this.skip();
    put(held({ started: '1' }));
    expect(await take()).to.equal('taken');
  });

  it('asks the system for the start of a process when the lock does not tell it', async () => {
    put(held({ started: null }));
    const asked: number[] = [];
    const startAt = (ms: number | undefined): NonNullable<LockOptions['processStart']> => {
      return (pid) => {
        asked.push(pid);
        return ms;
      };
    };
    expect((await refused({ processStart: startAt(undefined), waitMs: 30 })).kind).to.equal('locked');
    expect(asked).to.deep.equal([process.pid]);
    expect((await refused({ processStart: startAt(Date.now() - MINUTE) })).kind).to.equal('locked');
    expect(await take({ processStart: startAt(Date.now() + 2 * MINUTE) })).to.equal('taken');
  });

  it('learns the start of a process from the system', function () {
    const start = processStart(process.pid);
    // Not every ps tells it.
    if (start === undefined && process.env['CI'] === undefined) this.skip();
    const expected = Date.now() - process.uptime() * 1000;
    expect(start).to.be.within(expected - 5000, expected + 5000);
    expect(processStart(deadPid())).to.equal(undefined);
  });

  describe('asks ps', () => {
    const { PATH } = process.env;
    afterEach(() => {
      process.env['PATH'] = PATH;
    });
    const startFrom = (...lines: string[]): number | undefined => {
      writeFileSync(box.path('ps'), ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 });
      process.env['PATH'] = box.path();
      return processStart(7);
    };
    before(function () {
      if (process.platform === 'win32') this.skip();
    });

    it('for the start in UTC, in English', () => {
      const answer = "echo '  Fri Nov 20 09:00:00 2026  '";
      const start = startFrom(`[ "$LC_ALL $TZ $*" = "C UTC -o lstart= -p 7" ] && ${answer}`);
      expect(start).to.equal(Date.UTC(2026, 10, 20, 9));
    });

    it('and knows nothing if it fails, answers something else, or is missing', () => {
      const answer = "echo 'Fri Nov 20 09:00:00 2026'";
      expect(startFrom(answer, 'exit 1')).to.equal(undefined);
      expect(startFrom('echo STARTED')).to.equal(undefined);
      process.env['PATH'] = box.path('elsewhere');
      expect(processStart(7)).to.equal(undefined);
    });

    it('with the other variables of this process', () => {
      process.env['STEWARD_TEST_START'] = 'Fri Nov 20 09:00:00 2026';
      try {
        expect(startFrom('echo "$STEWARD_TEST_START"')).to.equal(Date.UTC(2026, 10, 20, 9));
      } finally {
        delete process.env['STEWARD_TEST_START'];
      }
    });
  });

  it('holds a lock for as long as its process lives, however old it is', async () => {
    put(held({ at: Date.now() - 90 * 24 * 60 * MINUTE }));
    expect((await refused()).kind).to.equal('locked');
    put(held({ at: Date.now() + 90 * 24 * 60 * MINUTE }));
    expect((await refused()).kind).to.equal('locked');
  });

  it('judges no other machine by a pid', async () => {
    put(held({ machine: OTHER, pid: deadPid() }));
    expect((await refused()).kind).to.equal('locked');
    lastSign(-9 * MINUTE);
    expect((await refused()).kind).to.equal('locked');
    lastSign(-11 * MINUTE);
    expect(await take()).to.equal('taken');
  });

  it('takes a time in the future for expired', async () => {
    put(held({ machine: OTHER }));
    lastSign(11 * MINUTE);
    expect(await take()).to.equal('taken');
  });

  it('refreshes a lock while it is held, so that another pid namespace sees it alive however old it is', async () => {
    mock.timers.enable({ apis: ['setInterval'] });
    try {
      await withLock(lock(), options(), async () => {
        const holder = JSON.parse(readFileSync(lock(), 'utf8')) as Holder;
        put({ ...holder, namespace: 'pid:[1]', at: Date.now() - 90 * 24 * 60 * MINUTE });
        lastSign(-11 * MINUTE);
        mock.timers.tick(30_000);
        expect((await refused()).kind).to.equal('locked');
        put(held());
        lastSign(-11 * MINUTE);
        const { mtimeMs } = statSync(lock());
        mock.timers.tick(30_000);
        expect(statSync(lock()).mtimeMs, 'the lock of a successor is left alone').to.equal(mtimeMs);
      });
    } finally {
      mock.timers.reset();
    }
  });

  it('takes over from nobody who answers', async () => {
    put(held({ pid: deadPid() }));
    expect((await refused({ answers: () => Promise.resolve(true) })).kind).to.equal('locked');
    expect(await take({ answers: () => Promise.resolve(false) })).to.equal('taken');
  });

  it('judges no other pid namespace by a pid, and no earlier boot at all', async function () {
    if (holderOf(process.pid, ME, 0, TOKEN).namespace === null) this.skip();
    put(held({ namespace: 'pid:[1]', pid: deadPid() }));
    expect((await refused()).kind).to.equal('locked');
    put(held({ namespace: 'pid:[1]', boot: 'an earlier one' }));
    expect(await take()).to.equal('taken');
  });

  for (const [what, content] of [
    ['nothing', ''],
    ['half a holder', '{"pid":12,"mach'],
    ['a holder without a token', JSON.stringify({ pid: 1, machine: ME, at: 0 })],
    ['a token that is a path', JSON.stringify({ pid: 1, machine: ME, at: 0, token: '../../../../etc' })],
    ['another thing', 'null'],
  ] as const) {
    it(`takes over a lock file with ${what} in it, after 5 s`, async () => {
      put(content);
      const error = await refused();
      expect(error.message).to.include('Another process holds the lock');
      const old = (Date.now() - 6000) / 1000;
      utimesSync(lock(), old, old);
      expect(await take()).to.equal('taken');
    });
  }

  it('refuses a link in its place', async () => {
    mkdirSync(dirname(lock()));
    symlinkSync(box.path('elsewhere'), lock());
    expect((await refused()).kind).to.equal('config');
  });

  it('leaves a stale lock to the one whose claim came first, while that one lives', async () => {
    put(held({ pid: deadPid() }));
    writeFileSync(`${lock()}.after-${TOKEN}`, JSON.stringify(held({ token: 'aaaaaaaaaaaaaaaa' })));
    expect((await refused()).kind).to.equal('locked');
    expect(JSON.parse(readFileSync(lock(), 'utf8'))).to.include({ token: TOKEN });
  });

  it('succeeds a chain of claimers that were all killed, and clears up behind them', async () => {
    const pid = deadPid();
    const tokens = [TOKEN, 'aaaaaaaaaaaaaaaa', 'bbbbbbbbbbbbbbbb', 'cccccccccccccccc'];
    put(held({ pid }));
    tokens.slice(1).forEach((token, n) => {
      writeFileSync(`${lock()}.after-${tokens[n]}`, JSON.stringify(held({ pid, token })));
    });
    const temp = box.path('locks', '.one.0123456789ab.tmp');
    writeFileSync(temp, '');
    utimesSync(temp, 1, 1);
    writeFileSync(box.path('locks', 'two'), 'of another lock');
    await withLock(lock(), options(), () => {
      expect(readdirSync(box.path('locks')).sort()).to.deep.equal(['one', 'two']);
      return Promise.resolve();
    });
  });

  it('leaves a lock alone that another process took over after it was found stale', async () => {
    put(held({ pid: deadPid() }));
    const successor = held({ token: 'dddddddddddddddd' });
    let readings = 0;
    // The time is read once to judge the old holder, and then for the own lock: in between the other one is quick.
    const now = (): number => {
      readings += 1;
      if (readings === 2) put(successor);
      return Date.now();
    };
    expect((await refused({ clock: { now, monotonic: () => performance.now() } })).kind).to.equal('locked');
    expect(JSON.parse(readFileSync(lock(), 'utf8'))).to.deep.equal(successor);
    expect(readdirSync(dirname(lock()))).to.deep.equal(['one']);
  });

  it('does not remove the lock of a successor', async () => {
    await withLock(lock(), options(), () => {
      put(held());
      return Promise.resolve();
    });
    expect(JSON.parse(readFileSync(lock(), 'utf8'))).to.include({ token: TOKEN });
  });
});
