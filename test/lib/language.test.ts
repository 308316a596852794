import { expect } from 'chai';

import { errorFaults, languageFaults, type Fault } from '../helpers/strings';
import { long } from '../helpers/long';

/** `npm run strings -- --banned src/lib/work` lists the faults of a folder. language.json has the terms, with reasons. */
describe('the language of the product', () => {
  let found: Fault[] | undefined;
  const faults = (): Fault[] => (found ??= languageFaults());

  for (const kind of ['strings', 'comments'] as const) {
    long(`uses no banned term in ${kind}`, () => {
      const ofKind = faults().filter((fault) => fault.kind === kind);
      expect(ofKind.map(({ words }) => words)).to.deep.equal([]);
    });
  }

  long('has errors of two sentences: what failed, and what to do', () => {
    expect(errorFaults().map(({ words }) => words)).to.deep.equal([]);
  });
});
