import { bundleChild, type Bundle } from '../helpers/bundle';
import { killsOr, SEED } from '../helpers/random';
import { checkSeeds } from '../helpers/managed';

/** Each seed is a session over a connection that fails, with its reader killed and restarted. */
const SEEDS = killsOr(24);

describe('crash: hosted sessions over a connection that fails', function () {
  this.timeout(180_000 + SEEDS * 5000);
  let child: Bundle;
  before(() => {
    child = bundleChild('managed-run');
  });
  after(() => child.remove());

  it(`prints the log once each in order, sends once, and exits by the stop reason (${SEEDS} seeds from ${SEED % 1_000_000})`, () =>
    checkSeeds(child.path, SEED % 1_000_000, SEEDS));
});
