import { expect } from 'chai';
import fc from 'fast-check';

import { isSlug, makeSlug } from '../../../src/lib/sessions/slug';

describe('slugs', () => {
  it('follow the grammar', () => {
    for (const good of ['a', '20261120-fix-the-login-3f9a1c2e', 'a.b_c-d', '0', 'x'.repeat(81)])
      expect(isSlug(good), good).to.equal(true);
    const bad = [
      '',
      '.',
      '..',
      '-a',
      '_a',
      'A',
      'a/b',
      'a\\b',
      'a..b',
      'a.',
      'x'.repeat(82),
      'ä',
      'a b',
      'a\n',
      'a\0',
    ];
    for (const text of bad) expect(isSlug(text), JSON.stringify(text)).to.equal(false);
  });

  it('are no device of Windows', () => {
    for (const text of ['con', 'nul', 'aux.txt', 'com1', 'lpt9.md', 'prn'])
      expect(isSlug(text), text).to.equal(false);
    for (const text of ['console', 'com10', 'nul-1']) expect(isSlug(text), text).to.equal(true);
  });

  it('are made of a day, words and a mark', () => {
    expect(makeSlug('2026-11-20', 'Réparer le Login!', 'one')).to.match(
      /^20261120-reparer-le-login-[0-9a-f]{8}$/,
    );
    expect(makeSlug('2026-11-20', '日本語', 'one')).to.match(/^20261120-session-[0-9a-f]{8}$/);
    expect(makeSlug('2026-11-20', 'x', 'one')).not.to.equal(makeSlug('2026-11-20', 'x', 'two'));
  });

  it('are slugs whatever they are made of, and always the same', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.string({ unit: 'binary' }),
        fc.string({ unit: 'binary' }),
        (day, about, id) => {
          const slug = makeSlug(day.slice(0, 10), about, id);
          expect(isSlug(slug), slug).to.equal(true);
          expect(makeSlug(day.slice(0, 10), about, id)).to.equal(slug);
        },
      ),
    );
  });
});
