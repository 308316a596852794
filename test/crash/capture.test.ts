import { expect } from 'chai';

import { bundleChild } from '../helpers/bundle';
import { campaign, IS_LONG, killsOr } from '../helpers/random';
import { scratch } from '../helpers/scratch';
import { disturbEachCall, type FaultMode, killCapturing } from '../helpers/sense-faults';

const KILLS = killsOr(10);
/** In a long run every call fails in every way; otherwise some of them do. */
const FAULTS: readonly [mode: FaultMode, every: number][] = IS_LONG
  ? [
      ['kill', 1],
      ['fail', 1],
      ['half', 1],
    ]
  : [
      ['kill', 3],
      ['fail', 7],
      ['half', 11],
    ];

describe('crash: a capture', function () {
  this.timeout(600_000 + KILLS * 5000);
  const box = scratch();

  for (const [mode, every] of FAULTS) {
    it(`matches an undisturbed one (${mode}, at every ${every}. file change)`, async () => {
      expect(await disturbEachCall(box.path(), mode, every)).to.be.at.least(50);
    });
  }

  it(`stores each event once, killed ${KILLS} times`, async () => {
    const child = bundleChild('capture-loop');
    try {
      await killCapturing(child.path, box.path(), KILLS, campaign('capture'));
    } finally {
      child.remove();
    }
  });
});
