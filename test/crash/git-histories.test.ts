import { checkRandomHistory } from '../helpers/git-model';

describe('crash: random git histories', function () {
  this.timeout(120_000);
  for (const seed of [3, 4]) {
    it(`reports each commit exactly once (seed ${seed})`, () => checkRandomHistory(seed, 50));
  }
  it('the same from files that are trusted (seed 6)', () => checkRandomHistory(6, 50, true));
});
