import { expect } from 'chai';

import { mergeUsage, type MachineUsage } from '../../../src/lib/usage/machines';
import type { DatedRow } from '../../../src/lib/usage/rollup';
import { MACHINES } from '../../helpers/machines';
import { seeded } from '../../helpers/random';

const [A, B] = MACHINES.map(({ id }) => id) as [string, string];

function row(session: string, input: number, repo: string | null = 'shop'): DatedRow {
  const amounts = { input, output: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, cost: 0 };
  return { day: '2026-11-20', assistant: 'codex', session, repo, model: 'gpt-5', ...amounts };
}

const merged = (...machines: MachineUsage[]): unknown[] =>
  mergeUsage(machines)
    .map(({ session, repo, input, machine = '' }) => `${session} ${repo} ${input} ${machine}`.trim())
    .sort();

describe('usage: several machines', () => {
  it('adds up the sessions', () => {
    const machines = [
      { id: A, rows: [row('s1', 5), row('s1', 7, 'site')] },
      { id: B, rows: [row('s2', 10)] },
    ];
    expect(merged(...machines)).to.deep.equal(['s1 shop 5', 's1 site 7', 's2 shop 10']);
  });

  it('counts a session whose log was copied once, where there is more of it', () => {
    expect(merged({ id: A, rows: [row('s1', 5)] }, { id: B, rows: [row('s1', 9, 'copy')] })).to.deep.equal([
      's1 copy 9',
    ]);
    expect(merged({ id: A, rows: [row('s1', 5, null)] }, { id: B, rows: [row('s1', 5)] })).to.deep.equal([
      's1 shop 5',
    ]);
  });

  it('counts a copy once that an earlier version stored without the size of its requests', () => {
    const parts = [row('s1', 5), { ...row('s1', 7), model: 'gpt-5 (>200k)' }];
    expect(merged({ id: A, rows: parts }, { id: B, rows: [row('s1', 12)] })).to.deep.equal([
      's1 shop 5',
      's1 shop 7',
    ]);
  });

  it('gives the same rows in any order', () => {
    for (let seed = 1; seed <= 50; seed += 1) {
      const random = seeded(seed);
      const machines = MACHINES.map(({ id, name }) => ({
        id,
        rows: Array.from({ length: random.below(8) }, () => ({
          ...row(random.pick(['s1', 's2', 's3']), random.below(5), random.pick(['shop', null])),
          machine: name,
        })),
      }));
      expect(merged(...[...machines].reverse())).to.deep.equal(merged(...machines));
    }
  });
});
