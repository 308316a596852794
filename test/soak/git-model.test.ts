import { checkRandomHistory } from '../helpers/git-model';

/** `STEWARD_SOAK=10` runs ten times as many histories; another `STEWARD_SEED` runs others. */
const TIMES = Number(process.env['STEWARD_SOAK'] ?? 1);
const FIRST = Number(process.env['STEWARD_SEED'] ?? 1000);

describe('soak: sense/git, random histories', function () {
  this.timeout(0);
  for (let i = 0; i < 12 * TIMES; i += 1) {
    it(`reports each commit exactly once (seed ${FIRST + i})`, () => checkRandomHistory(FIRST + i, 150));
  }
});
