import { join } from 'node:path';
import { expect } from 'chai';

import type { DayDocument } from '../../../src/lib/daemon/day-route';
import { PAGES } from '../../helpers/browser';

interface Group {
  id: string;
  label: string;
  machine?: string;
  rows: { id: string; boxes: [number, number, string][] }[];
  items: { at: number; end: number; row: string; text: string }[];
}

interface Items {
  groupsOf: (day: DayDocument) => Group[];
  rangeOf: (groups: Group[], day: DayDocument, until?: number) => { from: number; to: number };
  tableRows: (groups: Group[], clock: (at: number) => string) => string[][];
}

const HOUR = 3600;

describe('the timeline of the page of a day', () => {
  let items: Items;

  before(async () => {
    items = (await import(join(PAGES, 'timeline-items.js'))) as Items;
  });

  const dayOf = (more: Partial<DayDocument>, hours = 24): DayDocument =>
    ({
      ...{ record: { hours: Array.from({ length: hours }) } },
      ...{ apps: [['Code', 'creation'], ['Mail', 'consumption']], repos: ['steward'], spans: [] },
      ...{ away: [], commits: [], sessions: [], closed: [] },
      ...more,
    }) as unknown as DayDocument; // prettier-ignore

  it('joins what touches into one box, and keeps each item', () => {
    const [apps] = items.groupsOf(dayOf({ spans: [[0, 60, 0], [60, 60, 0, 0], [120, 60, 1], [180, 60, 0]] })); // prettier-ignore
    expect(apps?.rows.find(({ id }) => id === 'creation')?.boxes).to.deep.equal([
      [0, 120, 'creation'],
      [180, 240, 'creation'],
    ]);
    expect(apps?.items.map(({ text }) => text)).to.deep.equal([
      'Code · creation',
      'Code · steward · creation',
      'Mail · consumption',
      'Code · creation',
    ]);
  });

  it('marks when two machines were in use at the same time', () => {
    const mine: [number, number, number][] = [[0, 600, 0], [900, 300, 1]]; // prettier-ignore
    const other = dayOf({ spans: [[300, 800, 0]] });
    const groups = items.groupsOf(
      dayOf({ spans: mine, others: [{ ...other, id: 'b', name: 'laptop' }] as never }),
    );
    const boxes = groups.flatMap(({ rows }) =>
      rows.filter(({ id }) => id.endsWith('overlap')).map(({ id, boxes: all }) => [id, all]),
    );
    const shared = [
      [300, 600, 'overlap'],
      [900, 1100, 'overlap'],
    ];
    expect(boxes).to.deep.equal([
      ['overlap', shared],
      ['b-overlap', shared],
    ]);
    const [first] = groups[0]!.items.filter(({ row }) => row === 'overlap');
    expect(first?.text).to.equal('also in use: laptop');
  });

  it('names sessions of one title by their place, and by their end where that is the same', () => {
    const one = { title: 'A talk', repo: 'notes', branch: 'main', issue: null, parts: [[0, 60, 'w']] };
    const sessions = [
      { ...one, slug: 'first-aaaa' },
      { ...one, slug: 'second-bbbb' },
      { ...one, slug: 'third-cccc', branch: 'draft' },
      { ...one, slug: 'other-dddd', title: 'A shop' },
    ];
    const group = items.groupsOf(dayOf({ sessions } as never)).find(({ id }) => id === 'sessions');
    expect(group?.items.map(({ text }) => text)).to.have.members([
      'aaaa · main · notes · A talk · working',
      'bbbb · main · notes · A talk · working',
      'draft · notes · A talk · working',
      'A shop · working',
    ]);
  });

  it('covers eight hours at least, and a day of 25 hours to its end', () => {
    const morning = dayOf({ spans: [[9.5 * HOUR, 600, 0]] });
    expect(items.rangeOf(items.groupsOf(morning), morning, 10 * HOUR)).to.deep.equal({
      from: 9 * HOUR,
      to: 17 * HOUR,
    });
    const long = dayOf({ spans: [[24 * HOUR, HOUR, 0]] }, 25);
    expect(items.rangeOf(items.groupsOf(long), long)).to.deep.equal({ from: 17 * HOUR, to: 25 * HOUR });
    const empty = dayOf({});
    expect(items.rangeOf(items.groupsOf(empty), empty)).to.deep.equal({ from: 0, to: 8 * HOUR });
  });

  it('tells a wait of now from those before, and has one lane a machine', () => {
    const parts: [number, number, 'w' | 'y' | 'r'][] = [
      [0, 60, 'y'],
      [60, 60, 'w'],
      [120, 60, 'r'],
    ];
    const session = { slug: 'a', title: 'a', repo: null, branch: null, issue: null, parts };
    const statesOf = (day: DayDocument): unknown =>
      items.groupsOf(day).flatMap(({ id, rows }) => rows.map((row) => [id, row.id, ...row.boxes.map((box) => box[2])])); // prettier-ignore
    const day = dayOf({ sessions: [{ ...session, isWaiting: true }, session] as never });
    expect(statesOf(day)).to.deep.equal([
      ['sessions', 'a', 'pastY', 'w', 'r'],
      ['sessions', 'a', 'pastY', 'w', 'pastR'],
    ]);
    const other = { ...dayOf({}), id: 'b1', name: 'box', sessions: [session] };
    const both = dayOf({ sessions: [session], others: [other] as never, machines: [{ id: 'a1', name: 'desk' }, { id: 'b1', name: 'box' }] as never }); // prettier-ignore
    expect(items.groupsOf(both).map(({ id, label, machine, rows }) => [id, label, machine, rows[0]?.id])).to.deep.equal([
      ['sessions', 'Assistant sessions on desk', 'desk', 'a'],
      ['b1-sessions', 'Assistant sessions on box', 'box', 'b1-a'],
    ]); // prettier-ignore
  });

  it('joins short visits into one row of the table', () => {
    const day = dayOf({
      spans: [[0, 600, 0], [600, 60, 1], [660, 90, 0]],
      commits: [{ at: 900, repo: 'steward', branch: 'main', sha: 'a1', subject: 'Fix the login' }],
    }); // prettier-ignore
    expect(items.tableRows(items.groupsOf(day), String)).to.deep.equal([
      ['0', 'Code · creation', '10 m'],
      ['600', '2 short visits', '3 m'],
      ['900', 'steward · Fix the login', ''],
    ]);
  });
});
