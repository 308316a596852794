import { expect } from 'chai';

import { bundleChild } from '../helpers/bundle';
import { killCapturing } from '../helpers/sense-kill';
import { disturbEachCall } from '../helpers/sense-faults';
import { scratch } from '../helpers/scratch';

/** `STEWARD_SOAK=5` makes it three hundred. */
const KILLS = 60 * Math.max(1, Number(process.env['STEWARD_SOAK'] ?? 1));

describe('soak: a capture that is disturbed at every step', function () {
  this.timeout(600_000 + KILLS * 5000);
  const box = scratch();

  for (const mode of ['half', 'fail'] as const) {
    it(`leaves what an undisturbed one leaves (${mode})`, async () => {
      expect(await disturbEachCall(box.path(), mode)).to.be.at.least(60);
    });
  }

  it(`stores what happened exactly once, killed ${KILLS} times at random points`, async () => {
    const child = bundleChild('capture-loop');
    try {
      await killCapturing(child.path, box.path(), KILLS);
    } finally {
      child.remove();
    }
  });
});
