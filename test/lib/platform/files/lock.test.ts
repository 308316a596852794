import { expect } from 'chai';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { mock } from 'node:test';

import {
  holderOf,
  isAlive,
  isGone,
  isLockHeld,
  parseHolder,
  withLock,
  withMachineLock,
  type Holder,
  type LockOptions,
} from '../../../../src/lib/platform/files/lock';
import { rejection } from '../../../helpers/errors';
import { scratch } from '../../../helpers/scratch';

const NOW = Date.parse('2026-11-20T08:00:00Z');
const TOKEN = '0123456789abcdef';
const clock = { now: () => NOW, monotonic: () => 0 };
const mine = (): Holder => holderOf(process.pid, 'here', NOW, TOKEN);
/** More than any system gives to a process. */
const NO_PID = 2 ** 30;

describe('what a lock file says', () => {
  it('is read whole, and what is not known is nothing', () => {
    const whole = { pid: 7, machine: 'm', boot: 'b', namespace: 'n', started: 's', at: 5, token: TOKEN };
    expect(parseHolder(JSON.stringify(whole))).to.deep.equal(whole);
    expect(parseHolder(JSON.stringify({ ...whole, boot: 1, namespace: null, started: {} }))).to.deep.equal({
      ...whole,
      ...{ boot: null, namespace: null, started: null },
    });
  });

  for (const [what, wrong] of [
    ...[0, -1, 1.5, '7', null].map((pid) => [`pid ${JSON.stringify(pid)}`, { pid }] as const),
    ...[5, null].map((machine) => [`machine ${machine}`, { machine }] as const),
    ...['5', null].map((at) => [`time ${at}`, { at }] as const),
    ...[5, [TOKEN], TOKEN.slice(1), `${TOKEN}0`, `x${TOKEN.slice(1)}`].map(
      (token) => [`token ${JSON.stringify(token)}`, { token }] as const,
    ),
  ])
    it(`is nothing with ${what}`, () => {
      expect(parseHolder(JSON.stringify({ ...mine(), ...wrong }))).to.equal(undefined);
    });
});

describe('whether the holder of a lock is gone', () => {
  const startOf = (startedMs?: number) => ({ processStart: () => startedMs });
  const rows: [what: string, Partial<Holder>, object, isGone: boolean][] = [
    ['is its process', {}, {}, false],
    ['is not told by a start that cannot be looked up', { started: null }, {}, false],
    ['is told by a later start', { started: null }, startOf(NOW + 60_001), true],
    ['allows a minute for it', { started: null }, startOf(NOW + 60_000), false],
    ['is another start', { started: 'earlier' }, {}, true],
    ['is another boot', { boot: 'earlier' }, {}, true],
    ['is not an unknown boot', { boot: null }, {}, false],
    ['is a time, elsewhere', { machine: 'there' }, { lastSignMs: NOW - 1001 }, true],
    ['is not yet that time', { machine: 'there' }, { lastSignMs: NOW - 1000 }, false],
    ['is the time at which it was taken', { machine: 'there', at: NOW - 1001 }, {}, true],
    ['is a time to come', { machine: 'there' }, { lastSignMs: NOW + 1001 }, true],
    ['is a time, in another namespace', { namespace: 'other' }, { lastSignMs: NOW - 1001 }, true],
  ];
  for (const [what, holder, more, gone] of rows)
    it(what, function () {
      if ('started' in holder && mine().started === null && holder.started !== null) this.skip();
      if ('boot' in holder && mine().boot === null) this.skip();
      const options = { machineId: 'here', nowMs: NOW, staleAfterMs: 1000, ...startOf(), ...more };
      expect(isGone({ ...mine(), ...holder }, options)).to.equal(gone);
    });
});

describe('a process', () => {
  it('that is gone is not alive, and has no start', () => {
    expect([process.pid, NO_PID].map(isAlive)).to.deep.equal([true, false]);
    expect(holderOf(NO_PID, 'here', NOW, TOKEN).started).to.equal(null);
  });
});

describe('a lock', () => {
  const folder = scratch();
  const lock = (): string => folder.path('locks', 'one');
  const take = (more: Partial<LockOptions> = {}, work: () => unknown = () => 'taken') =>
    withLock(lock(), { clock, machineId: 'here', waitMs: 0, ...more }, work);
  const refusal = async (more: Partial<LockOptions> = {}): Promise<string> => {
    const { kind, message, hint } = await rejection(take(more));
    return `${kind}: ${message} ${hint}`;
  };
  const put = (content: unknown, ageMs = 0): void => {
    mkdirSync(dirname(lock()), { recursive: true });
    writeFileSync(lock(), typeof content === 'string' ? content : JSON.stringify(content));
    utimesSync(lock(), (NOW - ageMs) / 1000, (NOW - ageMs) / 1000);
  };
  const left = (): string[] => readdirSync(dirname(lock())).sort();
  const refused = (who: string): string =>
    `locked: ${who} holds the lock ${lock()}. Wait for it to finish, then rerun the command.`;

  it('is for this user alone to read, and asks nobody if it is free', async () => {
    const mode = await take({ answers: () => Promise.resolve(true) }, () => statSync(lock()).mode & 0o777);
    expect(mode).to.equal(process.platform === 'win32' ? 0o666 : 0o600);
  });

  it('may be gone when the work is done', async () => {
    expect(await take({}, () => rmSync(lock()))).to.equal(undefined);
    expect(left()).to.deep.equal([]);
  });

  it('is no file of more than 4 KiB', async () => {
    put('x'.repeat(4097), 6000);
    expect(await refusal()).to.match(/^config: .* is larger than 4096 bytes\./);
    put('x'.repeat(4096), 6000);
    expect(await take()).to.equal('taken');
  });

  it('that is damaged is held for five seconds', async () => {
    put('{"pid":1', 5000);
    expect(await refusal()).to.equal(refused('Another process'));
    put('{"pid":1', 5001);
    expect(await take()).to.equal('taken');
  });

  describe('that is stale', () => {
    /** Takes the lock while something happens after it was found stale. */
    const takeLate = (meanwhile: () => void): Promise<string> => {
      let readings = 0;
      const now = (): number => {
        readings += 1;
        if (readings === 2) meanwhile();
        return NOW;
      };
      return refusal({ clock: { ...clock, now } });
    };

    it('is left to a process that took it over meanwhile, and so are the claims on that', async () => {
      put({ ...mine(), pid: NO_PID });
      const successor = { ...mine(), token: 'dddddddddddddddd' };
      const claim = `${lock()}.after-${successor.token}`;
      const result = takeLate(() => {
        put(successor);
        writeFileSync(claim, JSON.stringify(mine()));
      });
      expect(await result).to.equal(refused(`Process ${process.pid}`));
      expect(JSON.parse(readFileSync(lock(), 'utf8'))).to.deep.equal(successor);
      expect(left()).to.deep.equal(['one', 'one.after-dddddddddddddddd']);
    });

    it('is left to a process that is about to write to it', async () => {
      put('{"pid":1', 6000);
      expect(await takeLate(() => put('{"pid":12'))).to.equal(refused('Another process'));
      expect(readFileSync(lock(), 'utf8')).to.equal('{"pid":12');
    });

    it('is left to a process that removed it', async () => {
      put({ ...mine(), pid: NO_PID });
      expect(await takeLate(() => rmSync(lock()))).to.equal(refused('Another process'));
      expect(left()).to.deep.equal([]);
    });
  });

  describe('is refreshed every 30 seconds', () => {
    beforeEach(() => mock.timers.enable({ apis: ['setInterval'] }));
    afterEach(() => mock.timers.reset());

    it('by its time alone', async () => {
      await take({}, () => {
        const text = readFileSync(lock());
        utimesSync(lock(), 1, 1);
        mock.timers.tick(29_999);
        expect(statSync(lock()).mtimeMs).to.equal(1000);
        mock.timers.tick(1);
        const { atimeMs, mtimeMs } = statSync(lock());
        expect([atimeMs, mtimeMs]).to.deep.equal([NOW, NOW]);
        expect(readFileSync(lock())).to.deep.equal(text);
      });
    });

    for (const [what, breakIt] of [
      ['it is gone', () => undefined],
      ['a link is in its place', () => symlinkSync('elsewhere', lock())],
      [
        'its folder cannot be read',
        () => {
          rmSync(dirname(lock()), { recursive: true });
          symlinkSync('locks', dirname(lock()));
        },
      ],
    ] as const)
      it(`but not if ${what}, without harm`, async () => {
        const result = await take({}, () => {
          rmSync(lock());
          breakIt();
          mock.timers.tick(30_000);
          rmSync(dirname(lock()), { recursive: true, force: true });
          return 'done';
        });
        expect(result).to.equal('done');
      });
  });
});

describe('the lock of a machine', () => {
  const folder = scratch();

  it('is held by its name while its work runs', async () => {
    const machine = { area: { machine: folder.path('machine') }, clock, machineId: 'here' };
    const path = join(machine.area.machine, 'publish.lock');
    expect(isLockHeld(path, machine)).to.equal(false);
    const value = await withMachineLock(machine, 'publish', 0, async () => {
      expect(isLockHeld(path, machine)).to.equal(true);
      const other = await withMachineLock(machine, 'publish', 0, () => 'both').catch(
        ({ kind }: { kind: string }) => kind,
      );
      return [other, readdirSync(machine.area.machine)];
    });
    expect(value).to.deep.equal(['locked', ['publish.lock']]);
    expect(existsSync(path)).to.equal(false);
    writeFileSync(path, JSON.stringify({ ...mine(), started: null, boot: 'earlier', pid: NO_PID }));
    expect(isLockHeld(path, machine)).to.equal(false);
  });
});
