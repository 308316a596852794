import { checkRandomHistory } from '../helpers/git-model';

describe('sense/git: random histories', function () {
  this.timeout(60_000);
  it('reports each commit exactly once', () => checkRandomHistory(2, 50));
  it('the same from files that are trusted', () => checkRandomHistory(5, 50, true));
});
