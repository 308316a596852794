import { expect } from 'chai';

import { bundleChild } from '../../helpers/bundle';
import { killCapturing } from '../../helpers/sense-kill';
import { disturbEachCall } from '../../helpers/sense-faults';
import { scratch } from '../../helpers/scratch';

/** Every single step of a capture that changes a file; test/soak lets the steps fail in other ways. */
describe('sense: a capture that is disturbed', () => {
  const box = scratch();

  it('leaves what an undisturbed one leaves, killed before any of its steps', async () => {
    expect(await disturbEachCall(box.path(), 'kill')).to.be.at.least(50);
  }).timeout(600_000);

  it('does so when a step fails as on a full disk', async () => {
    expect(await disturbEachCall(box.path(), 'fail', 5)).to.be.at.least(50);
  }).timeout(600_000);

  it('stores what happened exactly once, killed at random points', async () => {
    const child = bundleChild('capture-loop');
    try {
      await killCapturing(child.path, box.path(), 25);
    } finally {
      child.remove();
    }
  }).timeout(600_000);
});
