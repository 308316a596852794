import { expect } from 'chai';

import { disturbEachCall } from '../../helpers/sense-faults';
import { scratch } from '../../helpers/scratch';

/** Every single step of a capture that changes a file; test/soak lets the steps fail in other ways. */
describe('sense: a capture that is disturbed', () => {
  const box = scratch();

  it('leaves what an undisturbed one leaves, killed before any of its steps', async () => {
    expect(await disturbEachCall(box.path(), 'kill')).to.be.at.least(60);
  }).timeout(180_000);

  it('does so when a step fails as on a full disk', async () => {
    expect(await disturbEachCall(box.path(), 'fail', 5)).to.be.at.least(60);
  }).timeout(180_000);
});
