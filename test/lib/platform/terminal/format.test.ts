import { expect } from 'chai';
import fc from 'fast-check';

import { fold, toAscii } from '../../../../src/lib/platform/terminal/fold';
import { bar, longDay, weekday, wrap } from '../../../../src/lib/platform/terminal/format';
import { displayWidth } from '../../../../src/lib/platform/terminal/text-width';

describe('platform: format', () => {
  it('names the day of the week of any date', () => {
    expect(longDay('2026-11-20')).to.equal('Fri 20 Nov 2026');
    expect(longDay('2024-02-29')).to.equal('Thu 29 Feb 2024');
    expect(longDay('1969-12-31')).to.equal('Wed 31 Dec 1969');
    fc.assert(
      fc.property(fc.integer({ min: -100_000, max: 100_000 }), (days) => {
        const date = new Date(days * 86_400_000);
        const known = date.toLocaleDateString('en-US', { weekday: 'short', timeZone: 'UTC' });
        expect(weekday(date.toISOString().slice(0, 10))).to.equal(known);
      }),
    );
  });

  it('wraps words into their columns and loses none', () => {
    expect(wrap('one two three four', 10, '- ')).to.deep.equal(['- one two', '- three', '- four']);
    expect(wrap('one two three', 12, 'not: ', '  ')).to.deep.equal(['not: one two', '  three']);
    expect(wrap('', 10, 'x: ')).to.deep.equal(['x: ']);
    expect(wrap('無限の長さ 短い', 8)).to.deep.equal(['無限の長さ', '短い']);
    const word = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
      .filter((text) => !/\s/.test(text));
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), fc.integer({ min: 20, max: 90 }), (words, columns) => {
        const lines = wrap(words.join(' '), columns, '  ');
        expect(lines.map((line) => line.slice(2)).join(' ')).to.equal(words.join(' '));
        for (const line of lines) expect(displayWidth(line)).to.be.at.most(columns);
      }),
    );
  });

  it('wraps text once, also on a wide terminal', () => {
    const lines = wrap('word '.repeat(100), 200, '  ', '    ');
    expect(Math.max(...lines.map((line) => line.length))).to.be.at.most(96);
    expect(fold(lines.join('\n'), 200)).to.equal(lines.join('\n'));
  });

  it('folds lines between words, aligned with their last column', () => {
    const cases: [text: string, folded: string[]][] = [
      ['short', ['short']],
      ['one two three four five six', ['one two three four', 'five six']],
      ['  - one two three four five', ['  - one two three', '    four five']],
      ['  key  one two three four', ['  key  one two three', '       four']],
      ['  key  /a/path/of/twenty/', ['  key', '    /a/path/of/twenty/']],
      ['a long first column  value', ['a long first column', '  value']],
      ['see /a/path/longer/than/that', ['see', '/a/path/longer/than/that']],
    ];
    for (const [text, folded] of cases) expect(fold(text, 20).split('\n'), text).to.deep.equal(folded);
  });

  it('turns blocks into ASCII of the same width', () => {
    expect(toAscii('██▌▏ ▁▄▇ a · b… – —')).to.equal('###. .-* a - b~ - -');
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 1, max: 60 }),
        (part, columns) => {
          const drawn = bar(part, 1, columns);
          expect(toAscii(drawn))
            .to.match(/^#*\.?$/)
            .and.to.have.length(drawn.length);
        },
      ),
    );
  });
});
