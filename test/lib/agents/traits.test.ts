import { expect } from 'chai';

import { APPROACH, EXPERTISE, PERSONALITY } from '../../../src/lib/agents/traits';

describe('the trait vocabulary', () => {
  const ids = (traits: readonly { id: string }[]): string => traits.map(({ id }) => id).join(' ');

  it('has ten kinds of expertise', () => {
    expect(ids(EXPERTISE)).to.equal(
      'security legal finance medical technical research creative business data communications',
    );
  });

  it('has ten personalities', () => {
    expect(ids(PERSONALITY)).to.equal(
      'skeptical enthusiastic cautious bold analytical creative empathetic contrarian pragmatic meticulous',
    );
  });

  it('has eight approaches', () => {
    expect(ids(APPROACH)).to.equal(
      'thorough rapid systematic exploratory comparative synthesizing adversarial consultative',
    );
  });
});
