import { bundleChild, type Bundle } from '../../../helpers/bundle';
import { checkSeeds } from '../../../helpers/managed-oracle';

/** The soak has 500. */
const SEEDS = 24;

describe('managed: over a connection that fails, killed and restarted', function () {
  this.timeout(180_000);
  let child: Bundle;
  before(() => {
    child = bundleChild('managed-run');
  });
  after(() => child.remove());

  it(`prints the log once each in order, sends once, and exits by the stop reason (${SEEDS} seeds)`, () =>
    checkSeeds(child.path, 1, SEEDS));
});
