import { expect } from 'chai';
import fc from 'fast-check';

import {
  digestText,
  jsonBytes,
  numberedParts,
  short,
  split,
  utf16Units,
  utf8Bytes,
} from '../../../src/lib/notify/text';

describe('notify: texts in parts', () => {
  const anyText = fc.string({
    unit: fc.oneof(fc.constantFrom(' ', '\n', '"', '\\', '😀', 'é', '\u200d', '\u0301'), fc.string()),
    maxLength: 300,
  });

  it('fit every measure, and lose only white space', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 8, max: 60 }), (text, max) => {
        const parts = split(text, [
          { cost: utf8Bytes, max },
          { cost: jsonBytes, max: max + 4 },
        ]);
        for (const part of parts) {
          expect(Buffer.byteLength(part)).to.be.at.most(max);
          expect(Buffer.byteLength(JSON.stringify(part)) - 2).to.be.at.most(max + 4);
        }
        expect(parts.join('').replace(/\s/g, '')).to.equal(text.replace(/\s/g, ''));
      }),
    );
  });

  it('split no character, and count like the service', () => {
    expect(split('😀😀😀', [{ cost: utf8Bytes, max: 9 }])).to.deep.equal(['😀😀', '😀']);
    expect(split('😀😀😀', [{ cost: utf16Units, max: 5 }])).to.deep.equal(['😀😀', '😀']);
  });

  it('split a grapheme only if it is longer than a part', () => {
    const family = '👩\u200d👩\u200d👧';
    expect(split(family.repeat(3), [{ cost: utf8Bytes, max: 40 }])).to.deep.equal([family.repeat(2), family]);
    expect(split('e\u0301e\u0301', [{ cost: utf16Units, max: 3 }])).to.deep.equal(['e\u0301', 'e\u0301']);
    expect(split(`aaaaaaaa bb${family}`, [{ cost: utf8Bytes, max: 19 }])).to.deep.equal([
      'aaaaaaaa',
      'bb',
      family,
    ]);
    expect(split(family, [{ cost: utf8Bytes, max: 10 }]).join('')).to.equal(family);
  });

  it('break at a nearby word or line', () => {
    expect(split('alpha beta gamma', [{ cost: utf16Units, max: 12 }])).to.deep.equal(['alpha beta', 'gamma']);
    expect(split('alpha beta\ngamma', [{ cost: utf16Units, max: 12 }])).to.deep.equal([
      'alpha beta',
      'gamma',
    ]);
    expect(split('', [{ cost: utf16Units, max: 12 }])).to.deep.equal(['']);
  });

  it('are numbered', () => {
    expect(numberedParts(['a'])).to.deep.equal(['a']);
    expect(numberedParts(['a', 'b'])).to.deep.equal(['(1/2) a', '(2/2) b']);
  });

  it('are shortened by characters', () => {
    expect(short('a\n b\tc', 10)).to.equal('a b c');
    expect(short('😀😀😀', 2)).to.equal('😀…');
  });

  it('are counted in a digest', () => {
    expect(digestText(['a', 'b', 'c'], 2)).to.equal('• a\n• b\nand 1 more');
  });
});
