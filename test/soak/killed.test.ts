import { mkdirSync } from 'node:fs';

import { bundleChild } from '../helpers/bundle';
import { killAppending, killLocking, killReplacing } from '../helpers/kill';
import { scratch } from '../helpers/scratch';

/** About a hundred kills each; `STEWARD_SOAK=20` makes it two thousand. */
const KILLS = 100 * Math.max(1, Number(process.env['STEWARD_SOAK'] ?? 1));

describe('soak: killed at random points', function () {
  this.timeout(KILLS * 2000);
  const box = scratch();

  for (const [name, child, loop] of [
    ['leaves a whole file while it is replaced', 'write-loop', killReplacing],
    ['brings every planned line into its log exactly once', 'write-loop', killAppending],
    ['never has two in a lock, and never leaves it stuck', 'lock-loop', killLocking],
  ] as const) {
    it(`${name}, ${KILLS} times`, async () => {
      const bundle = bundleChild(child);
      mkdirSync(box.path('f'));
      try {
        await loop(bundle.path, box.path('f'), KILLS);
      } finally {
        bundle.remove();
      }
    });
  }
});
