import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { dayBounds, dayOf } from '../../src/lib/platform/time/time';
import {
  foldersOf,
  storedCommits,
  storedNotifications,
  testMachine,
  type TestMachine,
} from '../helpers/area-machines';
import { emptyHome } from '../helpers/cli';
import { zoneInTheMorning } from '../helpers/midnight';
import { campaign, killsOr } from '../helpers/random';
import { requirePrograms } from '../helpers/real-part';
import { randomKills } from '../helpers/strace';

const A = 'aaaaaaaaaaaa';
const B = 'bbbbbbbbbbbb';
const KILLS = killsOr(6);

describe('a machine that is killed while it adopts another one (built)', function () {
  this.timeout(120_000 + KILLS * 30_000);
  let home: ReturnType<typeof emptyHome>;
  const zone = zoneInTheMorning();
  before(function () {
    requirePrograms(this, { strace: 'strace', git: 'git' });
  });
  beforeEach(() => (home = emptyHome()));
  afterEach(() => home.remove());

  const area = (...names: string[]): string => join(home.path, 'now', 'area', ...names);
  const machine = (id: string): TestMachine =>
    testMachine({ ...{ id, home: join(home.path, 'now', id), area: area() }, env: { TZ: zone } });
  /** Restores what was there before the kill. */
  const restore = (): void => {
    rmSync(join(home.path, 'now'), { recursive: true });
    cpSync(join(home.path, 'before'), join(home.path, 'now'), { recursive: true });
  };

  /** Records 20 minutes of today in the log of the machine's folder. */
  function putFocus(folder: string, id: string, fromMinute: number): void {
    const day = dayOf(Date.now(), zone);
    const { startMs } = dayBounds(day, zone);
    const lines = Array.from({ length: 20 }, (_, i) => ({
      ts: new Date(startMs + (1 + fromMinute + i) * 60_000).toISOString(),
      ...{
        type: 'app-focus',
        source: 'appFocus',
        app: 'Code',
        detail: { intervalSec: 60, via: 'x11', machine: id },
      },
    }));
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    appendFileSync(join(folder, 'sense/events', `${day}.jsonl`), text);
  }

  /** A pending delivery, in the outbox of the machine's folder. */
  function putDelivery(folder: string, id: string, number: number): void {
    const name = `20261123T10111212${number}Z-0123456789a${number}.push.json`;
    const far = '2099-01-01T00:00:00.000Z';
    const delivery = {
      ...{ version: 1, id: name.slice(0, 32), channel: 'push', machine: id, at: '2026-11-23T10:11:12.123Z' },
      ...{ event: 'taskComplete', priority: 3, message: 'm', tags: [], silent: false, nextAt: far },
      ...{ attempts: 0, interrupted: 0, sentParts: 0 },
    };
    mkdirSync(join(folder, 'state/outbox'), { recursive: true });
    writeFileSync(join(folder, 'state/outbox', name), JSON.stringify(delivery));
  }
  const deliveries = (): { name: string; machine: unknown }[] =>
    foldersOf(area()).flatMap((folder) => {
      const outbox = join(folder, 'state/outbox');
      if (!existsSync(outbox)) return [];
      const names = readdirSync(outbox, { withFileTypes: true }).filter(({ name }) => name.endsWith('.json'));
      return names.map(({ name }) => {
        const { machine: id } = JSON.parse(readFileSync(join(outbox, name), 'utf8')) as { machine: unknown };
        return { name, machine: id };
      });
    });

  it(`loses and doubles nothing, killed ${KILLS} times`, async () => {
    mkdirSync(area('sense'), { recursive: true, mode: 0o700 });
    const config = { version: 1, enabled: true, repos: ['~/code'], sources: { appFocus: false } };
    writeFileSync(area('sense/config.json'), JSON.stringify(config));
    const [old, own] = [machine(A), machine(B)];
    const commits = [old.commit('code', 'old')];
    await old.hook('session-start', 'old-session');
    await old.json('notify', 'send', 'old note', '--no-voice');
    await old.json('sense', 'capture');
    for (let i = 0; i < 2; i += 1) {
      commits.push(own.commit('code', `new ${i}`));
      await own.hook('session-start', `new-session-${i}`);
      await own.json('notify', 'send', `new note ${i}`, '--no-voice');
      await own.json('sense', 'capture');
    }
    putFocus(area(), A, 0);
    putFocus(area('machines', B), B, 10);
    for (const at of [old, own]) await at.json('sense', 'capture');
    expect(await own.json<Today>('sense', 'today')).to.include({ totalMinutes: 30, overlapMinutes: 10 });
    // Not captured yet when the machine adopts the other one.
    commits.push(own.commit('code', 'newest'));
    putDelivery(area(), A, 1);
    putDelivery(area('machines', B), B, 2);
    rmSync(old.home, { recursive: true });
    renameSync(join(home.path, 'now'), join(home.path, 'before'));
    mkdirSync(join(home.path, 'now'));
    const killing = randomKills(campaign('killed while adopting'));
    let kills = 0;
    for (let i = 0; kills < KILLS; i += 1) {
      expect(i, 'attempts').to.be.below(4 * KILLS + 20);
      restore();
      const env = { STEWARD_HOME: area(), TZ: zone };
      const { at: label, isKilled } = killing(own.home, ['sync', 'adopt', A], env);
      if (isKilled) kills += 1;
      // Hooks run in between, and write to where the machine was.
      await own.hook('session-start', 'between');
      const done = await own.run(['sync', 'adopt', A]);
      const again = done.code === 0 ? done : await own.run(['sync', 'adopt', A]);
      expect(again.code, `${label}: ${done.stderr}${again.stderr}`).to.equal(0);
      await expectWhole(label, own, commits);
    }
  });

  async function expectWhole(label: string, own: TestMachine, commits: readonly string[]): Promise<void> {
    const owner = JSON.parse(readFileSync(area('state/owner.json'), 'utf8')) as object;
    expect(owner, label).to.deep.include({ owner: A });
    expect(readdirSync(area('exchange/machines')), label).to.deep.equal([A]);
    expect(
      deliveries().map(({ machine: id }) => id),
      label,
    ).to.deep.equal([A, A]);
    const {
      date,
      commits: found,
      totalMinutes,
    } = await own.json<Today>('sense', 'capture').then(() => own.json<Today>('sense', 'today'));
    expect(totalMinutes, label).to.equal(30);
    expect(found.count, `${label}: commits of ${date}`).to.equal(commits.length);
    expect(storedCommits(area()).sort(), label).to.deep.equal([...commits].sort());
    const notes = storedNotifications(area())
      .filter((text) => text !== 'm')
      .sort();
    expect(notes, label).to.deep.equal(['new note 0', 'new note 1', 'old note']);
    const sessions = JSON.stringify(await own.json('sessions', '--all'));
    for (const session of ['old-session', 'new-session-0', 'new-session-1', 'between'])
      expect(sessions, `${label}: ${session}`).to.include(session);
  }

  interface Today {
    date: string;
    commits: { count: number };
    totalMinutes: number;
  }
});
