import { expect } from 'chai';
import fc from 'fast-check';

import type { Piece } from '../../../../src/lib/time/ledger/attention';
import { ics, intervalsOf, timeCsv, timewarrior } from '../../../../src/lib/time/ledger/exports';
import type { AttentionRow, DayLedger } from '../../../../src/lib/time/ledger/model';
import {
  goalTagsOf,
  keyOf,
  TIME_KEYS,
  timeRows,
  type TimeReport,
  type WorkNames,
} from '../../../../src/lib/time/ledger/rows';
import { issueOfBranch, workNames } from '../../../../src/lib/time/ledger/names';
import { timeText } from '../../../../src/lib/time/ledger/view';

const NAMES: WorkNames = {
  session: (id) => (id === 'a' ? 'fix-login' : id),
  issue: ({ branch, repo }) =>
    workNames({ sessions: [], items: [], projects: [], goals: [] }).issue({ ...UNKNOWN, branch, repo }),
  goal: ({ repo }) => (repo === 'shop' ? { goal: 'G1', reason: 'repos: shop' } : undefined),
};

const UNKNOWN = { app: 'Web', repo: null, branch: null, session: null, assistant: null };

function own(minutes: number, more: Partial<AttentionRow> = {}): AttentionRow {
  return { ...UNKNOWN, ...more, minutes };
}

function ledger(more: Partial<DayLedger> = {}): DayLedger {
  return {
    ...{ attention: [], agents: [], apps: [], cells: {}, heldUpMinutes: 0 },
    answers: { count: 0, medianMinutes: null, longestMinutes: null },
    parallel: { most: 0, mean: 0 },
    ...more,
  };
}

const DAY = ledger({
  attention: [
    own(10.1, { app: 'Ghostty', repo: 'shop', branch: '12-login', session: 'a' }),
    own(5, { app: 'Ghostty', otherFolder: true }),
    own(3.2),
  ],
  agents: [
    {
      ...{ session: 'a', assistant: null, repo: 'shop', branch: '12-login' },
      cells: { working: { front: 4, desk: 2.1 }, waiting: { desk: 1, away: 8 } },
    },
    { session: 'b', assistant: 'codex', repo: 'notes', branch: null, cells: { working: { unknown: 7 } } },
  ],
  apps: [{ app: 'Web', cells: { waiting: { desk: 1 } } }],
  answers: { count: 2, medianMinutes: 3, longestMinutes: 5 },
  parallel: { most: 2, mean: 1.4 },
});

describe('sense: rows of time', () => {
  const keys = (by: (typeof TIME_KEYS)[number]): string[] => timeRows([DAY], by, NAMES).map(({ key }) => key);

  it('join the spellings of an application on several days', () => {
    const cells = { working: { desk: 3 } };
    const days = [
      ledger({ attention: [own(5, { app: 'firefox' })], apps: [{ app: 'firefox', cells }] }),
      ledger({ attention: [own(7, { app: 'Firefox' })], apps: [{ app: 'CODE', cells }] }),
      ledger({ attention: [own(1, { app: 'Code' })] }),
    ];
    expect(
      timeRows(days, 'app', NAMES).map(({ key, minutes, working }) => [key, minutes, working]),
    ).to.deep.equal([
      ['Firefox', 12, 3],
      ['Code', 1, 3],
    ]);
  });

  it('add up your time beside that of agents', () => {
    const zero = { working: 0, waiting: 0, heldUp: 0 };
    expect(timeRows([DAY, DAY], 'repo', NAMES)).to.deep.equal([
      { key: 'shop', minutes: 20.2, working: 12.2, waiting: 18, heldUp: 2 },
      { key: 'notes', minutes: 0, working: 14, waiting: 0, heldUp: 0 },
      { key: 'other folders', minutes: 10, ...zero },
      { key: 'unknown', minutes: 6.4, ...zero },
    ]);
    for (const by of TIME_KEYS) {
      const tenths = timeRows([DAY], by, NAMES).reduce((sum, row) => sum + Math.round(row.minutes * 10), 0);
      expect(tenths, by).to.equal(183);
    }
  });

  it('are by branch, session, assistant, issue, goal or application', () => {
    const rest = ['other folders', 'unknown'];
    expect(keys('branch')).to.deep.equal(['shop:12-login', 'notes', ...rest]);
    expect(keys('session')).to.deep.equal(['fix-login', 'b', ...rest]);
    expect(keys('assistant')).to.deep.equal(['claude-code', 'codex', ...rest]);
    const backfilled = { session: 'qwen:c', assistant: null, repo: null, branch: null };
    const old = ledger({ agents: [{ ...backfilled, cells: { working: { unknown: 3 } } }] });
    expect(timeRows([old], 'assistant', NAMES).map(({ key }) => key)).to.deep.equal(['qwen']);
    expect(keys('issue')).to.deep.equal(['shop#12', 'no issue', ...rest]);
    expect(keys('goal')).to.deep.equal(['G1', 'no goal', ...rest]);
    expect(keys('app')).to.deep.equal(['Ghostty', 'Web']);
    expect(timeRows([], 'repo', NAMES)).to.deep.equal([]);
  });

  it('keep issues of different repositories with one number apart', () => {
    const day = ledger({
      attention: [
        own(4, { repo: 'shop', branch: '12-login' }),
        own(6, { repo: 'notes', branch: '12-index' }),
      ],
    });
    const rows = timeRows([day], 'issue', NAMES).map(({ key, minutes }) => [key, minutes]);
    expect(rows).to.deep.equal([
      ['notes#12', 6],
      ['shop#12', 4],
    ]);
  });

  it('find an issue in a branch name', () => {
    const cases: Record<string, number | undefined> = {
      '12-login': 12,
      'issue-12': 12,
      'Issue-7-x': 7,
      'fix/issue-12-login': 12,
      'ann/12-login': 12,
      '2026-11-20-try': undefined,
      'v2-login': undefined,
      'issue-': undefined,
      main: undefined,
    };
    for (const [branch, issue] of Object.entries(cases))
      expect(issueOfBranch(branch), branch).to.equal(issue);
    expect(issueOfBranch(null)).to.equal(undefined);
  });

  it('explain a goal by its rule', () => {
    expect(goalTagsOf(DAY, NAMES)).to.deep.equal({
      G1: { minutes: 10.1, working: 6.1, reasons: ['repos: shop'] },
    });
  });
});

describe('sense: time on a terminal', () => {
  const report: TimeReport = {
    ...{ from: '2026-11-20', to: '2026-11-20', timezone: 'UTC', totalMinutes: 18.3 },
    rows: timeRows([DAY], 'repo', NAMES),
  };
  const text = (columns: number, more: object = {}): string =>
    timeText(report, { by: 'repo', ledgers: [DAY], notRecorded: 0, commits: 0, ...more }, {
      isTTY: true,
      columns,
      color: false,
      unicode: true,
    } as Parameters<typeof timeText>[2]);

  it('shows a table from 40 columns on', () => {
    for (const columns of [40, 63, 64, 80, 200]) {
      for (const line of text(columns).split('\n')) expect(line.length, line).to.be.at.most(columns);
    }
    expect(text(80)).to.equal(
      [
        'Fri 20 Nov 2026 · UTC',
        '18 m tracked',
        '',
        'repo            you  working  waiting  held up',
        'shop           10 m      6 m      9 m      1 m',
        'notes                    7 m',
        'other folders   5 m',
        'unknown         3 m',
        '',
        '2 questions answered; median wait 3 m, longest 5 m.',
        '',
        'At most 2 sessions worked at the same time.',
      ].join('\n'),
    );
    expect(text(40)).to.match(/^shop +0:10 +0:06 +0:09 +0:01$/m);
  });

  it('tells what is not recorded, and the names of rows', () => {
    expect(text(80, { notRecorded: 2 })).to.include('Your own time was not recorded on 2 days.');
    expect(text(80, { label: (key: string) => `the ${key}` })).to.match(/^the shop +10 m/m);
  });
});

describe('sense: exported time', () => {
  const piece = (from: number, to: number, repo: string | null): Piece => ({
    ...{ ...UNKNOWN, repo, otherFolder: false },
    span: [from * 1000, to * 1000],
  });
  const byRepo = (each: Piece): string => keyOf(each, 'repo', NAMES);

  it('joins samples into intervals', () => {
    const pieces = [
      piece(120.4, 240, 'shop'),
      piece(0, 120, 'shop'),
      piece(240, 300, null),
      piece(400, 460, null),
    ];
    expect(intervalsOf(pieces, byRepo)).to.deep.equal([
      { startMs: 0, endMs: 240_000, key: 'shop' },
      { startMs: 240_000, endMs: 300_000, key: 'unknown' },
      { startMs: 400_000, endMs: 460_000, key: 'unknown' },
    ]);
  });

  it('has no overlaps, even if two machines report at once', () => {
    const second = fc.integer({ min: 0, max: 3600 });
    const anyPiece = fc
      .tuple(second, second, fc.constantFrom('shop', null))
      .map(([from, length, repo]) => piece(from, from + length, repo));
    fc.assert(
      fc.property(fc.array(anyPiece), (pieces) => {
        const intervals = intervalsOf(pieces, byRepo);
        intervals.forEach(({ startMs, endMs }, i) => {
          expect(endMs).to.be.above(startMs);
          expect(startMs).to.be.at.least(intervals[i - 1]?.endMs ?? 0);
        });
      }),
    );
  });

  it('is CSV, timewarrior data or iCalendar', () => {
    const rows = [{ key: '=shop, "x"', minutes: 1, working: 2, waiting: 0, heldUp: 0 }];
    const report = { from: '2026-11-20', to: '2026-11-20', timezone: 'UTC', totalMinutes: 1, rows };
    expect([...timeCsv(report)].join('')).to.equal(
      'key,minutes,working,waiting,heldUp\r\n"\'=shop, ""x""",1,2,0,0\r\n',
    );
    const interval = {
      startMs: Date.parse('2026-11-20T09:00:00Z'),
      endMs: Date.parse('2026-11-20T10:15:00Z'),
    };
    expect([...timewarrior([{ ...interval, key: 'a "b"' }])]).to.deep.equal([
      `inc 20261120T090000Z - 20261120T101500Z # "a 'b'"\n`,
    ]);
    const text = [...ics([{ ...interval, key: `${'ä'.repeat(60)};` }])].join('');
    for (const line of text.split('\r\n')) expect(Buffer.byteLength(line)).to.be.at.most(75);
    expect(text.replaceAll('\r\n ', '')).to.include(`SUMMARY:${'ä'.repeat(60)}\\;\r\n`);
  });

  it('gets no further entries from a name with line breaks', () => {
    const interval = { startMs: 0, endMs: 60_000, key: 'a\r\nEND:VEVENT\nb\u001b[31m\u202e' };
    expect([...timewarrior([interval])].join('').split('\n')).to.have.length(2);
    const lines = [...ics([interval])].join('').split('\r\n');
    expect(lines).to.include('SUMMARY:a END:VEVENT b');
    expect(lines.filter((line) => line === 'END:VEVENT')).to.have.length(1);
  });
});
