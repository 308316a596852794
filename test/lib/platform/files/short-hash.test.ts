import { expect } from 'chai';
import fc from 'fast-check';

import { folderHash, randomName, shortHash } from '../../../../src/lib/platform/files/short-hash';
import { long } from '../../../helpers/long';

describe('platform/short-hash', () => {
  it('is the same for the same text, and as long as it says', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(shortHash(text))
          .to.match(/^[0-9a-f]{8}$/)
          .and.to.equal(shortHash(text));
        expect(folderHash(text))
          .to.match(/^[0-9a-f]{12}$/)
          .and.to.equal(folderHash(text));
      }),
    );
  });

  long('tells the folders of many users apart', () => {
    const hashes = Array.from({ length: 100_000 }, (_, index) => folderHash(`/home/user${index}/.steward`));
    expect(new Set(hashes).size).to.equal(hashes.length);
  });

  long('names nothing twice', () => {
    const names = Array.from({ length: 10_000 }, () => randomName(12));
    expect(new Set(names).size).to.equal(names.length);
    for (const name of names) expect(name).to.match(/^[0-9a-f]{12}$/);
    expect(randomName(16)).to.match(/^[0-9a-f]{16}$/);
  });
});
