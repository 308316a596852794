import { expect } from 'chai';

import { capturedFirst, countOnce } from '../../../../src/lib/time/machines/overlap';
import type { MachineDay, MachineSpan } from '../../../../src/lib/time/machines/model';
import { MACHINES, machineDay } from '../../../helpers/machines';

const [TODAY, TOMORROW] = ['2026-11-20', '2026-11-21'];
const [A, B] = [MACHINES[0].id, MACHINES[1].id];
const at = (hours: number): number => Date.parse(`${TODAY}T00:00:00Z`) / 1000 + hours * 3600;

function day(
  machine: string,
  date: string,
  ...spans: [from: number, to: number, repo?: string][]
): MachineDay {
  const made = spans.map(([from, to, repo]): MachineSpan => ({
    ...{ app: 'Code', kind: 'creation', from: at(from), to: at(to), input: at(to) },
    ...(repo === undefined ? {} : { repo }),
  }));
  return { ...machineDay(machine, [], { date }), spans: made };
}

describe('the time of machines that overlaps', () => {
  it('counts once, with the place of the machine that gets it', () => {
    const [first, second] = countOnce(
      [day(A, TODAY, [9, 11, 'shop']), day(B, TODAY, [10, 12])],
      new Set([TODAY]),
    );
    const code = { app: 'Code', kind: 'creation' };
    expect(first?.parts).to.deep.equal([{ ...code, repo: 'shop', from: at(9), to: at(10) }]);
    expect(second?.parts).to.deep.equal([
      { ...code, from: at(10), to: at(11) },
      { ...code, from: at(11), to: at(12) },
    ]);
    expect([first?.lostSec, second?.lostSec]).to.deep.equal([3600, 0]);
  });

  it('is looked for within the wanted days alone', () => {
    const elsewhere = day(B, TOMORROW, [7, 8], [8.5, 9], [9.5, 10.5], [10.5, 11.5], [12, 13], [14, 15]);
    const counted = countOnce([day(A, TODAY, [9, 10], [11, 12]), elsewhere], new Set([TODAY]));
    const parts = counted.map(({ parts: each }) => each.map(({ from, to }) => [from, to]));
    expect(parts).to.deep.equal([
      [[at(9), at(9.5)], [at(11), at(11.5)], [at(11.5), at(12)]],
      [[at(9.5), at(10)], [at(10), at(10.5)], [at(10.5), at(11)]],
    ]); // prettier-ignore
    expect(countOnce([elsewhere], new Set([TODAY]))[0]?.parts).to.deep.equal([]);
  });

  it('is the same of one machine in any order', () => {
    const [one, two] = [day(A, TODAY, [9, 10, 'a']), day(A, TOMORROW, [9, 10, 'b'])];
    for (const days of [[one, two], [two, one]]) {
      const counted = countOnce(days, new Set([TODAY, TOMORROW]));
      expect(counted.flatMap(({ parts }) => parts.map(({ repo }) => repo))).to.deep.equal(['a']);
    }
  }); // prettier-ignore

  it('is first of what was captured', () => {
    const days = [A, B, MACHINES[2].id].map((machine) => ({ day: day(machine, TODAY) }));
    for (const { day: backfilled } of days.slice(0, 2)) backfilled.record.backfilled = true;
    expect(capturedFirst(days).map((each) => days.indexOf(each))).to.deep.equal([2, 0, 1]);
  });
});
