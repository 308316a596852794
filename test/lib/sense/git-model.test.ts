import { checkRandomHistory } from '../../helpers/git-model';

describe('sense/git: random histories', function () {
  this.timeout(60_000);
  for (const seed of [2, 3, 4]) {
    it(`reports each commit exactly once (seed ${seed})`, () => checkRandomHistory(seed, 50));
  }
  for (const seed of [5, 6]) {
    it(`the same from files that are trusted (seed ${seed})`, () => checkRandomHistory(seed, 50, true));
  }
});
