import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';

import { noteTold, takeTurns, type TurnDeps } from '../../../src/lib/sync/turn';
import { seeded } from '../../helpers/random';
import { scratch } from '../../helpers/scratch';
import { long } from '../../helpers/long';

const START = Date.parse('2026-11-20T09:00:00Z');
const MINUTE = 60_000;

/** Machines whose folders a sync tool keeps in step, each change with a delay. Time passes in steps of 15 s. */
function simulated(root: string, ids: readonly string[], options: { seed: number; maxDelayMs?: number }) {
  const random = seeded(options.seed);
  let now = START;
  const machines = ids.map((id) => ({
    id,
    skew: (random.below(9) - 4) * MINUTE,
    phase: random.below(4),
    isOn: true,
    folder: join(root, id),
    lastInput: START - random.below(60) * MINUTE,
  }));
  const depsOf = (machine: (typeof machines)[number]): TurnDeps => ({
    clock: { now: () => now + machine.skew, monotonic: () => now },
    ...{ folder: machine.folder, machineId: machine.id, news: join(root, `${machine.id}-news.json`) },
  });
  const publish = (machine: (typeof machines)[number]): void => {
    const folder = join(machine.folder, 'machines', machine.id);
    mkdirSync(folder, { recursive: true });
    const minute = (ms: number): string => `${new Date(ms + machine.skew).toISOString().slice(0, 16)}Z`;
    const info = { format: 1, id: machine.id, name: machine.id, timezone: 'UTC', version: '1' };
    writeFileSync(
      join(folder, 'machine.json'),
      JSON.stringify({ ...info, lastInput: minute(machine.lastInput), publishedAt: minute(now) }),
    );
  };
  const pending: { at: number; path: string; text: string }[] = [];
  const shipped = new Map<string, string>();
  /** Ships what changed to each other machine, where it arrives after its delay, in order. */
  const sync = (): void => {
    for (const { folder, id } of machines) {
      for (const name of ['machine.json', 'told.jsonl']) {
        const file = join('machines', id, name);
        const text = existsSync(join(folder, file)) ? readFileSync(join(folder, file), 'utf8') : '';
        if (shipped.get(file) === text) continue;
        shipped.set(file, text);
        for (const other of machines) {
          if (other.id === id) continue;
          const at = now + random.below(options.maxDelayMs ?? 55_000);
          pending.push({ at, path: join(other.folder, file), text });
        }
      }
    }
    for (const arrived of pending.filter(({ at }) => at <= now)) {
      mkdirSync(dirname(arrived.path), { recursive: true });
      writeFileSync(arrived.path, arrived.text);
    }
    pending.splice(0, pending.length, ...pending.filter(({ at }) => at > now));
  };
  const told: { key: string; by: string; at: number }[] = [];
  const step = (items: readonly { key: string; dueMs: number }[]): void => {
    now += 15_000;
    const tick = (now - START) / 15_000;
    for (const machine of machines) {
      if (!machine.isOn) continue;
      if (random.chance(0.1)) machine.lastInput = now;
      if ((tick + machine.phase * 5) % 16 === 0) publish(machine);
      if ((tick + machine.phase) % 4 !== 0) continue;
      const open = items.filter(({ key }) => !told.some((one) => one.key === key && one.by === machine.id));
      const turns = takeTurns(depsOf(machine), open);
      const keys = open.map(({ key }) => key).filter((key) => turns.get(key) === 'now');
      for (const key of keys) told.push({ key, by: machine.id, at: now });
      noteTold(depsOf(machine), keys);
    }
    sync();
  };
  machines.forEach(publish);
  for (let i = 0; i < 8; i += 1) step([]);
  return { machines, told, step, now: () => now };
}

describe('sync: whose turn it is', () => {
  const { path } = scratch();
  const IDS = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb', 'cccccccccccc'];

  long('notifies about each item once, whatever the delay, the clocks and the input', function () {
    this.timeout(120_000);
    for (let seed = 1; seed <= 6; seed += 1) {
      const ids = IDS.slice(0, 2 + (seed % 2));
      const world = simulated(path(String(seed)), ids, { seed });
      const items = [10, 20, 20.5, 31].map((minute, i) => ({
        key: `${seed}-${i}`,
        dueMs: START + minute * MINUTE,
      }));
      for (let i = 0; i < 4 * 60; i += 1) world.step(items);
      for (const { key, dueMs } of items) {
        const found = world.told.filter((one) => one.key === key);
        expect(found, `seed ${seed}: ${key}`).to.have.length(1);
        expect((found[0]?.at ?? 0) - dueMs, `seed ${seed}: ${key}`).to.be.below(24 * MINUTE);
      }
    }
  });

  it('leaves an item to the machine that you used last', () => {
    const world = simulated(path('fresh'), IDS.slice(0, 2), { seed: 3 });
    const [first, second] = world.machines;
    if (first === undefined || second === undefined) throw new Error('two machines');
    Object.assign(first, { skew: 0, lastInput: START - 60 * MINUTE });
    Object.assign(second, { skew: 0, lastInput: START });
    const item = { key: 'x', dueMs: START + 25 * MINUTE };
    for (let i = 0; i < 4 * 40; i += 1) {
      second.lastInput = world.now();
      first.lastInput = START - 60 * MINUTE;
      world.step([item]);
    }
    expect(world.told.map(({ by }) => by)).to.deep.equal([second.id]);
    expect((world.told[0]?.at ?? 0) - item.dueMs).to.be.below(2 * MINUTE);
  });

  it('takes over from a machine that claimed an item and stopped', () => {
    const world = simulated(path('stopped'), IDS.slice(0, 2), { seed: 5 });
    const [first, second] = world.machines;
    if (first === undefined || second === undefined) throw new Error('two machines');
    const item = { key: 'x', dueMs: START + 20 * MINUTE };
    for (let i = 0; i < 4 * 80; i += 1) {
      first.lastInput = START;
      second.lastInput = world.now();
      if (world.now() > item.dueMs - 30_000 - Math.max(second.skew, 0)) second.isOn = false;
      world.step([item]);
    }
    expect(world.told.map(({ by }) => by)).to.deep.equal([first.id]);
  });

  it('does not repeat what a machine notified about before it became inactive', () => {
    const deps: TurnDeps = {
      clock: { now: () => START, monotonic: () => 0 },
      ...{ folder: path('inactive'), machineId: IDS[0] ?? '', news: path('news.json') },
    };
    const info = { format: 1, id: deps.machineId, name: 'a', timezone: 'UTC', version: '1', lastInput: null };
    mkdirSync(join(deps.folder, 'machines'), { recursive: true });
    noteTold(deps, ['x']);
    writeFileSync(
      join(deps.folder, 'machines', deps.machineId, 'machine.json'),
      JSON.stringify({ ...info, publishedAt: '2026-11-20T07:00Z' }),
    );
    const other = { ...deps, machineId: IDS[1] ?? '' };
    expect(takeTurns(other, [{ key: 'x', dueMs: START }]).get('x')).to.equal('done');
  });

  it('notes nothing in an exchange folder that is gone, and never creates it', () => {
    const deps: TurnDeps = {
      clock: { now: () => START, monotonic: () => 0 },
      ...{ folder: path('gone'), machineId: 'aaaaaaaaaaaa', news: path('news.json') },
    };
    noteTold(deps, ['x']);
    expect(existsSync(deps.folder)).to.equal(false);
    expect(takeTurns(deps, [{ key: 'x', dueMs: START }]).get('x')).to.equal('now');
  });

  it('repeats what a crash interrupted before it was sent', () => {
    const deps: TurnDeps = {
      clock: { now: () => START, monotonic: () => 0 },
      ...{ folder: path('crash'), machineId: 'aaaaaaaaaaaa', news: path('news.json') },
    };
    mkdirSync(join(deps.folder, 'machines'), { recursive: true });
    noteTold(deps, ['x']);
    expect(takeTurns(deps, [{ key: 'x', dueMs: START }]).get('x')).to.equal('now');
    expect(takeTurns({ ...deps, machineId: 'bbbbbbbbbbbb' }, [{ key: 'y', dueMs: START }]).get('y')).to.equal(
      'now',
    );
  });

  it('notifies at once if no other machine has news', () => {
    const world = simulated(path('alone'), IDS.slice(0, 1), { seed: 1 });
    for (let i = 0; i < 24; i += 1) world.step([{ key: 'x', dueMs: world.now() }]);
    expect(world.told).to.have.length(1);
  });
});
