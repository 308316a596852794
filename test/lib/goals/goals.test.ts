import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';

import { addGoal, parseGoals, readGoals } from '../../../src/lib/goals/record';
import { buildGoalsState } from '../../../src/lib/goals/state';
import { goalsText, goalTimes } from '../../../src/lib/goals/view';
import { addDays } from '../../../src/lib/platform/time/time';

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

  it('reads only the goals under the heading, with their details', () => {
    expect(parseGoals(text.join('\n'))).to.deep.equal([
      { id: 'G1', text: 'Write the book', reported: '40 %', target: 'a draft by June' },
      { id: 'G2', text: 'Run', reported: null, target: null },
    ]);
  });

  it('reads the last goal with any line ending', () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const lines = ['# Active Goals', '- **G1**: a', '- **G2**: b'].join(end);
      expect(parseGoals(lines).map(({ id }) => id)).to.deep.equal(['G1', 'G2']);
      expect(parseGoals(lines + end).map(({ id }) => id)).to.deep.equal(['G1', 'G2']);
    }
  });

  it('accepts the colon inside or outside the stars, further lines and nested lists', () => {
    const lines = [
      '## My active goals',
      '* **G1:** Write the book,',
      '  all of it',
      '  - Reported: half: so far',
      '  * **target**: done',
      '  - a note',
      '+ **Health-2** : Run',
      '    reported:',
      '',
      'Some words **G7**: no goal.',
      '- G8: no goal either',
      '  target: nobody’s',
      '- **G3**:',
    ];
    expect(parseGoals(lines.join('\n'))).to.deep.equal([
      { id: 'G1', text: 'Write the book, all of it', reported: 'half: so far', target: 'done' },
      { id: 'Health-2', text: 'Run', reported: null, target: null },
      { id: 'G3', text: '', reported: null, target: null },
    ]);
  });

  it('skips code, comments and duplicate ids', () => {
    const lines = [
      '\ufeff# Active Goals',
      '```md',
      '- **G4**: an example',
      '## Done',
      '```',
      '- **G1**: a <!-- not said -->',
      '<!-- - **G5**: hidden',
      '## Done',
      '- **G6**: hidden --> ',
      '- **G1**: b',
      '  target: not of the first',
      '# Later',
      '- **G7**: c',
      '# Active Goals of the family',
      '- **G2**: d',
    ];
    expect(parseGoals(lines.join('\n'))).to.deep.equal([
      { id: 'G1', text: 'a', reported: null, target: null },
      { id: 'G2', text: 'd', reported: null, target: null },
    ]);
  });

  it('reads any list of goals back, with any line end', () => {
    const word = fc.stringMatching(/^[a-z](?:[a-z :%é微]{0,20}[a-z])?$/);
    const goal = fc.record({
      id: fc.stringMatching(/^G[1-9][0-9]?$/),
      text: word,
      reported: fc.option(word),
      target: fc.option(word),
    });
    const goals = fc.uniqueArray(goal, { selector: ({ id }) => id });
    fc.assert(
      fc.property(goals, fc.constantFrom('\n', '\r\n', '\r'), fc.boolean(), (list, end, last) => {
        const lines = list.flatMap(({ id, text, reported, target }) => [
          `- **${id}**: ${text}`,
          ...(reported === null ? [] : [`  reported: ${reported}`]),
          ...(target === null ? [] : [`  target: ${target}`]),
        ]);
        const page = ['# Active Goals', ...lines].join(end) + (last ? end : '');
        expect(parseGoals(page)).to.deep.equal(list);
      }),
    );
  });

  it('returns no goals without the heading', () => {
    fc.assert(
      fc.property(fc.string(), (any) => {
        fc.pre(!/active goals/i.test(any));
        expect(parseGoals(any)).to.deep.equal([]);
      }),
    );
  });
});

describe('goals add', () => {
  let folder = '';
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'steward-goals-'))));
  afterEach(() => rmSync(folder, { recursive: true }));
  const book = { text: 'Write the book', repos: ['book'], target: '10 h a week' };

  it('writes a file that reads as the goals added', () => {
    const path = join(folder, 'goals', 'goals.md');
    expect(addGoal(path, book)).to.equal('G1');
    expect(addGoal(path, { text: 'Run', repos: undefined, target: null })).to.equal('G2');
    expect(readGoals(path)).to.deep.equal([
      { id: 'G1', reported: null, ...book },
      { id: 'G2', text: 'Run', reported: null, target: null },
    ]);
    expect(readFileSync(path, 'utf8').match(/Active Goals/g)).to.have.length(1);
  });

  it('keeps every other line, and takes the next number', () => {
    const path = join(folder, 'goals.md');
    for (const before of [
      '## Active Goals\n- **G7**: Run',
      '## Active Goals\n- **G7**: Run\n## Done\n- **G9**: Old\n',
    ]) {
      writeFileSync(path, before);
      expect(addGoal(path, book)).to.equal('G8');
      expect(readFileSync(path, 'utf8').startsWith(before)).to.equal(true);
      expect(readGoals(path).map(({ id }) => id)).to.deep.equal(['G7', 'G8']);
    }
  });

  it('writes sites, and names those in the file that match none', () => {
    const path = join(folder, 'goals.md');
    addGoal(path, { text: 'Learn Rust', sites: ['docs.rs', 'crates.io'], target: null });
    expect(readGoals(path)).to.have.deep.nested.property('[0].sites', ['docs.rs', 'crates.io']);
    const terminal = { columns: 80, color: false, isTTY: true, unicode: true } as const;
    const text = (): string => goalsText(goalTimes(readGoals(path), []), path, terminal);
    expect(text()).to.not.include('Invalid');
    writeFileSync(path, `${readFileSync(path, 'utf8')}  sites: Docs.RS, https://docs.rs/, localhost\n`);
    expect(text().match(/Invalid site .*/g)).to.deep.equal([
      'Invalid site "https://docs.rs/". Use a name such as docs.rs.',
      'Invalid site "localhost". Use a name such as docs.rs.',
    ]);
  });

  it('lists each goal with its time and rules, and how to add one', () => {
    const terminal = { columns: 80, color: false, isTTY: true, unicode: true } as const;
    const goal = { id: 'G1', reported: null, ...book };
    const times = goalTimes([goal], [{ key: 'G1', minutes: 90, working: 30 }]);
    expect(goalsText(times, '/x/goals.md', terminal).split('\n')).to.deep.equal([
      'G1  Write the book         1 h 30 m  agents 30 m',
      '      repos: book',
      '      target: 10 h a week',
      '',
      'Goals are in /x/goals.md.',
      'Add a goal: steward goals add "Write the book" --repo ~/book --target "10 h a',
      'week"',
    ]);
    expect(goalsText([], '/x/goals.md', terminal)).to.match(/^No goals yet\.\n/);
  });
});

describe('goals state', () => {
  const day = '2026-11-20';
  const record = (date: string, minutes: number, session = date) => ({
    date,
    totalMinutes: minutes,
    creationMinutes: minutes / 2,
    commits: { count: 2 },
    sessions: { items: [{ session }] },
  });

  it('sums the last 7 and 30 days, including the day itself', () => {
    const records = [0, 6, 7, 29, 30].map((back) => record(addDays(day, -back), 10.1));
    const state = buildGoalsState({ goals: [], records, date: day, generatedAt: 'now' });
    expect(state.observed).to.deep.equal({
      last7Days: { minutes: 20.2, creationMinutes: 10.1, commits: 4, sessions: 2 },
      last30Days: { minutes: 40.4, creationMinutes: 20.2, commits: 8, sessions: 4 },
    });
  });

  it('counts a session of several days once', () => {
    const records = [0, 1, 8].map((back) => record(addDays(day, -back), 1, 'the same'));
    const { observed } = buildGoalsState({ goals: [], records, date: day, generatedAt: 'now' });
    expect([observed.last7Days.sessions, observed.last30Days.sessions]).to.deep.equal([1, 1]);
  });

  it('contains the version and the reported goals, but no score', () => {
    const goals = parseGoals('# Active Goals\n- **G1**: a\n  reported: 40 %');
    const generatedAt = '2026-11-20T08:00:00.000Z';
    const state = buildGoalsState({ goals, records: [], date: day, generatedAt });
    const none = { minutes: 0, creationMinutes: 0, commits: 0, sessions: 0 };
    expect(state).to.deep.equal({
      version: 1,
      generatedAt,
      goals: [{ id: 'G1', text: 'a', reported: '40 %', target: null }],
      observed: { last7Days: none, last30Days: none },
    });
  });

  it('omits future days', () => {
    const state = buildGoalsState({
      goals: [],
      records: [record(addDays(day, 1), 60)],
      date: day,
      generatedAt: 'now',
    });
    expect(state.observed.last30Days.minutes).to.equal(0);
  });
});
