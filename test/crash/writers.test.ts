import { cpSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { dayOf } from '../../src/lib/platform/time/time';
import { testMachine, type TestMachine } from '../helpers/area-machines';
import { emptyHome } from '../helpers/cli';
import { keepCode } from '../helpers/code-cache';
import { zoneInTheMorning } from '../helpers/midnight';
import { campaign, killsOr } from '../helpers/random';
import { requirePrograms } from '../helpers/real-part';
import { randomKills } from '../helpers/strace';

const A = 'aaaaaaaaaaaa';
const B = 'bbbbbbbbbbbb';
const KILLS = killsOr(3);
/** Once the machines know of each other, kills find nothing new, so a long run begins anew after some of them. */
const KILLS_UNTIL_KNOWN = 8;

interface Today {
  totalMinutes: number;
  commits: { count: number };
  machines?: { id: string; state: string; asOf?: string }[];
}

/** Two machines with areas of their own and one exchange folder, killed at random while they capture and publish. */
describe('machines that are killed while their files have gone wrong (built)', function () {
  this.timeout(120_000 + KILLS * 40_000);
  let home: ReturnType<typeof emptyHome>;
  let zone: string;
  let killing: ReturnType<typeof randomKills>;
  let kills: number;
  let wanted: number;
  before(function () {
    requirePrograms(this, { strace: 'strace', git: 'git' });
  });

  /** Plays a story in a new world until there were as many kills as wanted, as often as it takes. */
  function killed(title: string, killsAWorld: number, story: () => Promise<void>): void {
    it(title, async () => {
      killing = randomKills(campaign(title));
      for (let left = KILLS; left > 0; left -= killsAWorld) {
        home = emptyHome();
        zone = zoneInTheMorning();
        kills = 0;
        wanted = Math.min(left, killsAWorld);
        try {
          await story();
        } finally {
          for (const name of readdirSync(home.path)) keepCode(join(home.path, name));
          home.remove();
        }
      }
    });
  }

  const exchange = (): string => join(home.path, 'exchange');
  const at = (id: string, name = id): TestMachine =>
    testMachine({
      ...{ id, home: join(home.path, name), area: join(home.path, name, 'area') },
      env: { TZ: zone },
    });
  const idOf = ({ home: path }: TestMachine): string =>
    readFileSync(join(path, '.local/state/steward/machine-id'), 'utf8').trim();

  /** A machine that has published one commit. */
  async function started(id: string): Promise<TestMachine> {
    const machine = at(id);
    mkdirSync(join(machine.area, 'sense'), { recursive: true, mode: 0o700 });
    const config = { version: 1, enabled: true, repos: ['~/code'], sources: { appFocus: false } };
    writeFileSync(join(machine.area, 'sense/config.json'), JSON.stringify(config));
    machine.commit('code', `first of ${id}`);
    await machine.json('sense', 'capture');
    await machine.json('sync', 'setup', '--create', exchange());
    return machine;
  }

  /** A commit, and a capture that is killed somewhere. */
  function killedCapture(machine: TestMachine): void {
    machine.commit('code', 'killed');
    const env = { STEWARD_HOME: machine.area, TZ: zone };
    if (killing(machine.home, ['sense', 'capture'], env).isKilled) kills += 1;
  }
  async function captured(machine: TestMachine): Promise<string> {
    const { code, stderr } = await machine.run(['sense', 'capture']);
    expect(code, stderr).to.equal(0);
    return stderr;
  }
  const today = (machine: TestMachine): Promise<Today> => machine.json<Today>('sense', 'today');

  /** Publishes on each machine until all have seen each other, and expects all commits on each. */
  async function expectAll(machines: readonly TestMachine[], commits: number): Promise<void> {
    for (let i = 0; i < 3; i += 1)
      for (const machine of machines) {
        machine.commit('code', 'settled');
        await captured(machine);
      }
    const all = commits + 3 * machines.length;
    for (const machine of machines) expect((await today(machine)).commits.count, idOf(machine)).to.equal(all);
    expect(new Set(machines.map(idOf)).size).to.equal(machines.length);
  }

  killed(
    'gives one of two machines with the same id a new one, and counts the work of both',
    KILLS_UNTIL_KNOWN,
    async () => {
      const first = await started(A);
      cpSync(first.home, join(home.path, 'copy'), { recursive: true });
      const copy = at(A, 'copy');
      // Its repository is another one, because it has another path.
      rmSync(join(copy.home, 'code'), { recursive: true });
      let commits = 1;
      while (kills < wanted) {
        for (const machine of [first, copy]) killedCapture(machine);
        commits += 2;
      }
      const said: string[] = [];
      for (let i = 0; i < 4; i += 1)
        for (const machine of [first, copy]) {
          machine.commit('code', 'after');
          said.push(await captured(machine));
          commits += 1;
        }
      await expectAll([first, copy], commits);
      expect(said.filter((text) => text.includes(`also publishes as ${A}`)).length).to.be.at.most(1);
      for (const machine of [first, copy]) {
        const owner = JSON.parse(readFileSync(join(machine.area, 'state/owner.json'), 'utf8')) as object;
        expect(owner).to.include({ owner: idOf(machine) });
      }
    },
  );

  killed(
    'gives a machine that was adopted or its successor a new id, and counts the work of both',
    KILLS_UNTIL_KNOWN,
    async () => {
      const old = await started(A);
      cpSync(old.area, join(home.path, B, 'area'), { recursive: true });
      const heir = at(B);
      let commits = 1;
      await heir.json('sync', 'adopt', A);
      while (kills < wanted) {
        for (const machine of [old, heir]) killedCapture(machine);
        commits += 2;
      }
      await expectAll([old, heir], commits);
      expect(idOf(heir)).to.not.equal(B);
    },
  );

  killed('keeps what a machine published before an older backup was restored', 30, async () => {
    const machine = await started(A);
    const other = await started(B);
    const backup = join(home.path, 'backup');
    cpSync(join(machine.area, 'sense'), join(backup, 'sense'), { recursive: true });
    machine.commit('code', 'not in the backup');
    await captured(machine);
    expect((await today(other)).commits.count).to.equal(3);
    let commits = 3;
    while (kills < wanted) {
      rmSync(join(machine.area, 'sense'), { recursive: true });
      cpSync(join(backup, 'sense'), join(machine.area, 'sense'), { recursive: true });
      killedCapture(machine);
      commits += 1;
      await captured(machine);
    }
    await expectAll([machine, other], commits);
    expect(idOf(machine)).to.equal(A);
  });

  killed('shows no less while the exchange folder is away, and everything once it is back', 30, async () => {
    const [first, second] = [await started(A), await started(B)];
    await captured(first);
    const day = dayOf(Date.now(), zone);
    let commits = 2;
    while (kills < wanted) {
      renameSync(exchange(), `${exchange()}-away`);
      for (const machine of [first, second]) killedCapture(machine);
      commits += 2;
      const { machines = [] } = await today(first);
      expect(machines.find(({ id }) => id === B)?.asOf, day).to.be.a('string');
      expect(readdirSync(home.path)).to.not.include('exchange');
      renameSync(`${exchange()}-away`, exchange());
      for (const machine of [first, second]) await captured(machine);
      expect((await today(first)).commits.count).to.equal(commits);
    }
    await expectAll([first, second], commits);
  });
});
