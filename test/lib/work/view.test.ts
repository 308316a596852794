import { expect } from 'chai';
import fc from 'fast-check';

import { LANES } from '../../../src/lib/config/schema';
import { displayWidth } from '../../../src/lib/platform/terminal/text-width';
import { groupItems, toItem, type BoardView } from '../../../src/lib/work/board';
import { emptyResult } from '../../../src/lib/work/sweep-log';
import { boardText, listText } from '../../../src/lib/work/view';
import { sweepText } from '../../../src/lib/work/view-results';
import { long } from '../../helpers/long';

const NOW = Date.parse('2026-11-20T12:00:00Z');

function boardOf(titles: readonly string[]): BoardView {
  const at = '2026-11-18T12:00:00Z';
  const items = titles.map((title, index) =>
    toItem(
      {
        number: index + 1,
        title,
        url: 'https://github.com/ann/work/issues/1',
        state: index % 5 === 4 ? 'closed' : 'open',
        stateReason: null,
        labels:
          [['Status:blocked', 'P0'], ['Status:in-progress', 'Agent:kai', 'website'], ['stale'], []][
            index % 4
          ] ?? [],
        createdAt: at,
        updatedAt: at,
        closedAt: index % 5 === 4 ? at : null,
        identity: null,
        due: null,
      },
      LANES,
    ),
  );
  const columns = Object.entries(groupItems(items, LANES)).map(([lane, own]) => [
    lane,
    own.map(({ number }) => number),
  ]);
  return {
    config: { repo: 'ann/work', columns: [...LANES], pollIntervalSeconds: 60 },
    columns: Object.fromEntries(columns) as BoardView['columns'],
    items,
    lastFetch: at,
    stale: titles.length % 2 === 0,
    staleReason: 'The connection to api.github.com was lost. Try again.',
    setupRequired: false,
    steps: [],
  };
}

describe('work: views', () => {
  long('fit the width of the terminal', () => {
    const title = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.constant('漢字'.repeat(40)),
      fc.constant('\u001b[31mred'),
    );
    fc.assert(
      fc.property(fc.array(title, { maxLength: 30 }), fc.integer({ min: 32, max: 200 }), (titles, columns) => {
        const board = boardOf(titles);
        const options = { columns, color: false, nowMs: NOW, timezone: 'UTC' };
        for (const text of [boardText(board, options), listText(board, board.items, options, 'None.')]) {
          expect(text).not.to.match(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
          for (const line of text.split('\n'))
            if (!line.includes('steward work')) expect(displayWidth(line), line).to.be.at.most(columns);
        }
      }),
    ); // prettier-ignore
  });

  it('show the age, the remaining count and the staleness', () => {
    const text = boardText(boardOf(Array.from({ length: 80 }, (_, n) => `Task ${n}`)), { columns: 80, color: false, nowMs: NOW, timezone: 'UTC' }); // prettier-ignore
    expect(text).to.match(
      /^ann\/work +64 open\nThe connection to api.github.com was lost. Try again. Last fetched:/,
    );
    expect(text).to.match(/Blocked 16\n {2} 1 {2}P0 {2}Task 0 +2 d\n/);
    expect(text).to.include('  6 more: steward work list --lane Blocked');
    expect(text).to.match(/Task 1 +kai · website +2 d/);
    expect(text).to.match(/Complete 16\n/);
  });

  it('show unknown instead of a count before the first fetch', () => {
    const options = { columns: 80, color: false, nowMs: NOW, timezone: 'UTC' };
    const unread = { lastFetch: null, stale: true, staleReason: 'No way.' };
    const board = { ...boardOf([]), ...unread };
    expect(boardText(board, options)).to.equal('ann/work\nNo way.\n\nThe issues have not been fetched yet.');
    expect(listText(board, [], options, 'None.')).to.equal('No way.\nThe issues have not been fetched yet.');
    expect(listText(boardOf(['']), [], options, 'None.')).to.equal('None.');
  });

  it('show the result of a sweep and the command that continues it', () => {
    const clock = { now: () => NOW, monotonic: () => 0 };
    const none = emptyResult(clock, 'ann/work', { dryRun: false, sinceMs: 86_400_000 });
    expect(sweepText({ ...none, requests: 1, sessionsScanned: 1 }, 50)).to.equal(
      '0 created · 0 updated · 0 flagged as stale · 0 duplicates · 1 session checked · 1 request',
    );
    const more = { ...none, created: 1, titles: ['[Goal] \u001b[31mRun [goal:G1]'], left: 7, requests: 4 };
    expect(sweepText({ ...more, sinceHours: 720 }, 1).split('\n')).to.deep.equal([
      '  [Goal] Run [goal:G1]',
      '1 created · 0 updated · 0 flagged as stale · 0 duplicates · 0 sessions checked · 4 requests',
      '7 more to create. Run: steward work sweep --of 31d --max-create 1',
    ]);
  });
});
