import { mkdirSync } from 'node:fs';

import { bundleChild } from '../helpers/bundle';
import { campaign, killsOr } from '../helpers/random';
import { killAppending, killLocking, killReplacing } from '../helpers/kill';
import { scratch } from '../helpers/scratch';

const KILLS = killsOr(25);

describe('crash: files, logs and locks', function () {
  this.timeout(60_000 + KILLS * 2000);
  const box = scratch();

  for (const [name, child, kill] of [
    ['leaves a whole file while it is replaced', 'write-loop', killReplacing],
    ['brings every planned line into its log exactly once', 'write-loop', killAppending],
    ['never has two in a lock, and never leaves it stuck', 'lock-loop', killLocking],
  ] as const) {
    it(`${name}, killed ${KILLS} times`, async () => {
      const bundle = bundleChild(child);
      mkdirSync(box.path('f'));
      try {
        await kill(bundle.path, box.path('f'), KILLS, campaign(name));
      } finally {
        bundle.remove();
      }
    });
  }
});
