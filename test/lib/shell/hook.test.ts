import { expect } from 'chai';

import { ASSISTANTS } from '../../../src/lib/assistant';
import WORDS from '../../../templates/data/shell-words.json';

describe('shell hook', () => {
  it('skips every known assistant, because you are at the terminal', () => {
    expect(WORDS.interactive).to.include.members(ASSISTANTS.flatMap(({ programs }) => programs));
  });
});
