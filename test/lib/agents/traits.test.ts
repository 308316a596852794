import { expect } from 'chai';

import { traitIds } from '../../../src/lib/agents/traits';

describe('the trait vocabulary', () => {
  it('has ten kinds of expertise', () => {
    expect(traitIds('expertise').join(' ')).to.equal(
      'security legal finance medical technical research creative business data communications',
    );
  });

  it('has ten personalities', () => {
    expect(traitIds('personality').join(' ')).to.equal(
      'skeptical enthusiastic cautious bold analytical creative empathetic contrarian pragmatic meticulous',
    );
  });

  it('has eight approaches', () => {
    expect(traitIds('approach').join(' ')).to.equal(
      'thorough rapid systematic exploratory comparative synthesizing adversarial consultative',
    );
  });
});
