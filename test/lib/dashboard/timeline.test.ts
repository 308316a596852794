import { join } from 'node:path';
import { expect } from 'chai';

import type { DayDocument } from '../../../src/lib/app/day';
import { PAGES } from '../../helpers/browser';

interface Group {
  id: string;
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
