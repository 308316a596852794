import { expect } from 'chai';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import {
  holderOf,
  isGone,
  isLockHeld,
  parseHolder,
  withMachineLock,
  type Holder,
} from '../../../../src/lib/platform/files/lock';
import { scratch } from '../../../helpers/scratch';

const NOW = Date.parse('2026-11-20T08:00:00Z');
const TOKEN = '0123456789abcdef';
const clock = { now: () => NOW, monotonic: () => 0 };
const mine = (): Holder => holderOf(process.pid, 'here', NOW, TOKEN);

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
    ...[5, TOKEN.slice(1), `${TOKEN}0`, `x${TOKEN.slice(1)}`].map(
      (token) => [`token ${token}`, { token }] as const,
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
    writeFileSync(path, JSON.stringify({ ...mine(), started: null, boot: 'earlier', pid: 2 ** 30 }));
    expect(isLockHeld(path, machine)).to.equal(false);
  });
});
