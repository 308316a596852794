import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';

import { timeRows } from '../../../src/lib/time/ledger/rows';
import type { DayLedger } from '../../../src/lib/time/ledger/model';
import { PAGES } from '../../helpers/browser';

interface Time {
  ledgerRows: (records: { ledger: DayLedger }[]) => [string, number[]][];
}

const minutes = fc.integer({ min: 1, max: 6000 }).map((tenths) => tenths / 10);
const repo = fc.constantFrom(null, 'steward', 'notes', 'shop');
const row = { branch: null, session: null, assistant: null };
const ledger = fc.record({
  attention: fc.array(
    fc
      .record({ repo, minutes, isOther: fc.boolean() })
      .map(({ isOther, ...own }) => ({ ...row, app: 'Code', ...own, ...(isOther && { otherFolder: true }) })),
  ),
  agents: fc.array(
    fc
      .record({ repo, working: minutes, front: minutes, desk: minutes })
      .map(({ repo: name, working, front, desk }) => ({
        ...{ ...row, session: 's', repo: name },
        cells: { working: { away: working }, waiting: { front, desk } },
      })),
  ),
});

describe('the time by repository of the pages', () => {
  it('is that of steward time', async () => {
    const { ledgerRows } = (await import(join(PAGES, 'sense-time.js'))) as Time;
    const names = { session: (id: string) => id, issue: () => undefined, goal: () => undefined };
    fc.assert(
      fc.property(fc.array(ledger, { maxLength: 7 }), (days) => {
        const ledgers = days.map((day) => ({ ...day, apps: [] }) as unknown as DayLedger);
        const shown = ledgerRows(ledgers.map((one) => ({ ledger: one }))).map(([key, values]) => [
          key,
          ...values.map((value) => Math.round(value * 10) / 10),
        ]);
        const rows = timeRows(ledgers, 'repo', names).map(
          ({ key, minutes: own, working, waiting, heldUp }) => [...[key, own, working, waiting, heldUp]],
        );
        expect(shown).to.have.deep.members(rows);
      }),
    );
  });
});
