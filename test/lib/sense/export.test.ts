import { expect } from 'chai';
import fc from 'fast-check';

import { makeClassifier } from '../../../src/lib/time/classify';
import type { SenseEvent } from '../../../src/lib/time/event';
import { exportEvents, exportRecords } from '../../../src/lib/sense/export';
import { buildDailyRecord } from '../../helpers/sense';

const event: SenseEvent = {
  ts: '2026-11-20T09:00:00.000Z',
  type: 'app-focus',
  source: 'appFocus',
  app: 'Code',
  detail: { intervalSec: 120 },
};
const record = buildDailyRecord(
  '2026-11-20',
  [event, { ...event, ts: '2026-11-20T10:00:00Z', app: 'A "B", C' }],
  {
    timezone: 'Europe/Paris',
    pollIntervalSec: 120,
    classify: makeClassifier('templates'),
    version: '1.0.0',
    generatedAt: '2026-11-21T06:00:00.000Z',
    final: true,
  },
);

const textOf = (pieces: Iterable<string>): string => [...pieces].join('');

/** A reader of RFC 4180 of its own, to read back what was written. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    let cell = '';
    if (text[at] === '"') {
      const quoted = /"((?:[^"]|"")*)"/y;
      quoted.lastIndex = at;
      const match = quoted.exec(text);
      if (match === null) throw new Error(`an open quote at ${at}`);
      cell = match[1]!.replaceAll('""', '"');
      at = quoted.lastIndex;
    } else {
      const plain = /[^,"\r\n]*/y;
      plain.lastIndex = at;
      cell = plain.exec(text)![0];
      at = plain.lastIndex;
    }
    row.push(cell);
    if (text[at] === ',') at += 1;
    else if (text.startsWith('\r\n', at)) {
      rows.push(row);
      row = [];
      at += 2;
    } else throw new Error(`neither a comma nor a line end at ${at}`);
  }
  return rows;
}

describe('sense: export', () => {
  it('writes events as one JSON array, piece by piece', () => {
    const events = [event, { ...event, app: 'Ünïcode\n"' }];
    expect(JSON.parse(textOf(exportEvents(events, 'json')))).to.deep.equal(events);
    expect(textOf(exportEvents([], 'json'))).to.equal('[]\n');
    expect([...exportEvents(events, 'json')]).to.have.length(3);
  });

  it('reads events lazily', () => {
    let made = 0;
    function* endless(): Generator<SenseEvent> {
      for (;;) {
        made += 1;
        yield event;
      }
    }
    const pieces = exportEvents(endless(), 'csv');
    for (let i = 0; i < 4; i += 1) expect(pieces.next().done).to.equal(false);
    expect(made).to.equal(3);
  });

  it('writes events as CSV with full detail', () => {
    const bare: SenseEvent = { ts: event.ts, type: 'git-commit', source: 'git', repo: 'a,b' };
    expect(textOf(exportEvents([event, bare], 'csv'))).to.equal(
      'ts,type,source,app,repo,detail\r\n' +
        '2026-11-20T09:00:00.000Z,app-focus,appFocus,Code,,"{""intervalSec"":120}"\r\n' +
        '2026-11-20T09:00:00.000Z,git-commit,git,,"a,b",\r\n',
    );
  });

  it('writes records as CSV by day or application, and as JSON', () => {
    expect(textOf(exportRecords([record], 'csv'))).to.equal(
      'date,timezone,final,totalMinutes,creationMinutes,consumptionMinutes,neutralMinutes,commits,sessions\r\n' +
        '2026-11-20,Europe/Paris,true,4,2,0,2,0,0\r\n',
    );
    expect(textOf(exportRecords([record], 'csv', 'apps'))).to.equal(
      'date,app,kind,minutes\r\n2026-11-20,"A ""B"", C",neutral,2\r\n2026-11-20,Code,creation,2\r\n',
    );
    expect(JSON.parse(textOf(exportRecords([record], 'json')))).to.deep.equal([record]);
  });

  it('escapes formulas', () => {
    for (const [app, cell] of [
      ['=1+1', "'=1+1"],
      ['+A1', "'+A1"],
      ['-2', "'-2"],
      ['@SUM(A1)', "'@SUM(A1)"],
      ['\t=1', "'\t=1"],
      ['  =1', "'  =1"],
      ['＝1', "'＝1"],
      ['a=1', 'a=1'],
      ["it's", "it's"],
    ] as const) {
      const rows = readCsv(textOf(exportEvents([{ ...event, app }], 'csv')));
      expect(rows[1]![3], JSON.stringify(app)).to.equal(cell);
    }
  });

  it('round-trips any names', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 8 }), { maxLength: 5 }), (names) => {
        const rows = readCsv(
          textOf(
            exportEvents(
              names.map((app) => ({ ...event, app })),
              'csv',
            ),
          ),
        );
        expect(rows.slice(1).map((row) => row.length)).to.deep.equal(names.map(() => 6));
        expect(rows.slice(1).map((row) => row[3]!.replace(/^'/, ''))).to.deep.equal(
          names.map((name) => name.replace(/^'/, '')),
        );
        for (const row of rows) for (const cell of row) expect(cell).not.to.match(/^\s*[=+\-@]/);
      }),
    );
  });
});
