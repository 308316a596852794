import { expect } from 'chai';

import { disturbEachCall } from '../helpers/sense-faults';
import { scratch } from '../helpers/scratch';

describe('soak: a capture that is disturbed at every step', function () {
  this.timeout(600_000);
  const box = scratch();

  for (const mode of ['half', 'fail'] as const) {
    it(`leaves what an undisturbed one leaves (${mode})`, async () => {
      expect(await disturbEachCall(box.path(), mode)).to.be.at.least(60);
    });
  }
});
