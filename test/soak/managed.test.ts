import { bundleChild } from '../helpers/bundle';
import { checkSeeds } from '../helpers/managed-oracle';

/** `STEWARD_SOAK=10` makes it five thousand. */
const SEEDS = 500 * Math.max(1, Number(process.env['STEWARD_SOAK'] ?? 1));

describe('soak: hosted sessions over a connection that fails', function () {
  this.timeout(SEEDS * 5000);

  it(`shows the log once each in order, and sends once, over ${SEEDS} seeds`, async () => {
    const child = bundleChild('managed-run');
    try {
      await checkSeeds(child.path, Number(process.env['STEWARD_SEED'] ?? 1), SEEDS);
    } finally {
      child.remove();
    }
  });
});
