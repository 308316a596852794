import { expect } from 'chai';
import fc from 'fast-check';

import { parseGoals } from '../../../src/lib/goals/record';
import { buildGoalsState } from '../../../src/lib/goals/state';
import { addDays } from '../../../src/lib/platform/time';

describe('goals record', () => {
  const text = [
    '# My goals',
    '## Active Goals (2026)',
    '- **G1**: Write the book',
    '  reported: 40 %',
    '  target: a draft by June',
    '- **G2**: Run',
    '### Notes',
    '- not a goal',
    '## Done',
    '- **G9**: Old one',
  ];

  it('reads the goals under the heading with what is said of them, and no others', () => {
    expect(parseGoals(text.join('\n'))).to.deep.equal([
      { id: 'G1', text: 'Write the book', reported: '40 %', target: 'a draft by June' },
      { id: 'G2', text: 'Run', reported: null, target: null },
    ]);
  });

  it('keeps the last goal whatever the line ends are, with and without a last one', () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const lines = ['# Active Goals', '- **G1**: a', '- **G2**: b'].join(end);
      expect(parseGoals(lines).map(({ id }) => id)).to.deep.equal(['G1', 'G2']);
      expect(parseGoals(lines + end).map(({ id }) => id)).to.deep.equal(['G1', 'G2']);
    }
  });

  it('gives none for any text without the heading', () => {
    fc.assert(
      fc.property(fc.string(), (any) => {
        fc.pre(!/active goals/i.test(any));
        expect(parseGoals(any)).to.deep.equal([]);
      }),
    );
  });
});

describe('goals state', () => {
  const day = '2026-11-20';
  const record = (date: string, minutes: number) => ({
    date,
    totalMinutes: minutes,
    creationMinutes: minutes / 2,
    commits: { count: 2 },
    sessions: { count: 1 },
  });

  it('sums the last 7 and 30 days, the day itself among them', () => {
    const records = [0, 6, 7, 29, 30].map((back) => record(addDays(day, -back), 10.1));
    const state = buildGoalsState({ goals: [], records, date: day, generatedAt: 'now' });
    expect(state.observed).to.deep.equal({
      last7Days: { minutes: 20.2, creationMinutes: 10.1, commits: 4, sessions: 2 },
      last30Days: { minutes: 40.4, creationMinutes: 20.2, commits: 8, sessions: 4 },
    });
  });

  it('leaves out days to come', () => {
    const state = buildGoalsState({
      goals: [],
      records: [record(addDays(day, 1), 60)],
      date: day,
      generatedAt: 'now',
    });
    expect(state.observed.last30Days.minutes).to.equal(0);
  });
});
