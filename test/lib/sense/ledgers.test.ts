import { expect } from 'chai';

import { piecesOf } from '../../../src/lib/sense/ledgers';
import { focus, listSource, senseBox } from '../../helpers/sense';

describe('sense: days without an event log', () => {
  it('are the recorded days whose log was deleted, but not empty days', async () => {
    const box = senseBox();
    const list = [focus('2026-11-20T09:00:00Z', 'Code')];
    const sources = [listSource('appFocus', list)];
    await box.capture({ sources });
    list.push(focus('2026-11-22T09:00:00Z', 'Code'));
    box.at('2026-11-23T09:00:00Z');
    await box.capture({ sources });
    const days = ['2026-11-19', '2026-11-20', '2026-11-21', '2026-11-22'];
    expect(box.store.recordedDays()).to.deep.equal(days.slice(1));
    expect(piecesOf(box.deps, days).skipped).to.deep.equal([]);
    box.store.removeLog('2026-11-20');
    expect(piecesOf(box.deps, days).skipped).to.deep.equal(['2026-11-20']);
  });
});
