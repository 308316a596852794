import { expect } from 'chai';

import { runHot } from '../../../src/hot';

describe('hot path', () => {
  it('leaves to oclif what is not hot, and hot commands with unusual words, as they are', async () => {
    for (const words of [
      'notify test',
      '',
      '--json notify send',
      'hook stop --help',
      'statusline --frob',
      'notify send',
    ]) {
      const argv = words.split(' ').filter((word) => word !== '');
      expect(await runHot(argv)).to.deep.equal(argv);
    }
  });
});
