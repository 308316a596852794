import { expect } from 'chai';
import fc from 'fast-check';

import { clean } from '../../../../src/lib/platform/terminal/terminal';
import { long } from '../../../helpers/long';

/** What a terminal acts on, or nobody sees, by code point; joiners and the selectors of emoji are judged by their place. */
const DROPPED: readonly (readonly [from: number, to: number])[] = [
  [0, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180e, 0x180e],
  [0x200b, 0x200b],
  [0x200e, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0d],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
];

function isControl(point: number): boolean {
  return DROPPED.some(([from, to]) => point >= from && point <= to);
}

const isJoiner = (point: number): boolean => [0x200c, 0x200d, 0xfe0e, 0xfe0f].includes(point);

const ESC = '\u001b';
/** Text that is made to hurt: controls and what follows them in sequences come often. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ESC,
        `${ESC}[`,
        `${ESC}]`,
        '\u009b',
        '\u009d',
        '\u0090',
        '\u0007',
        `${ESC}\\`,
        '\u009c',
        '31m',
        '?',
        ';',
      ),
      fc.integer({ min: 0, max: 0xa0 }).map((point) => String.fromCodePoint(point)),
      fc.integer({ min: 0x2000, max: 0x2070 }).map((point) => String.fromCodePoint(point)),
      fc.constantFrom('\u200c', '\u200d', '\ufe0f', '\u{1f469}', '\u0915', '\u00ad', '\u{e0041}'),
      fc.string({ unit: 'binary', maxLength: 4 }),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(''));

describe('platform/terminal: clean', () => {
  it('never lets a control through, whatever it is given', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect([...clean(text)].filter((one) => isControl(one.codePointAt(0) ?? 0))).to.deep.equal([]);
      }),
      { numRuns: 2000 },
    );
  });

  it('changes nothing the second time', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(clean(clean(text))).to.equal(clean(text));
      }),
      { numRuns: 2000 },
    );
  });

  it('leaves text without controls as it is', () => {
    const text = fc
      .string({ unit: 'binary', maxLength: 60 })
      .filter(
        (one) => ![...one].some((c) => isControl(c.codePointAt(0) ?? 0) || isJoiner(c.codePointAt(0) ?? 0)),
      );
    fc.assert(
      fc.property(text, (one) => {
        expect(clean(one)).to.equal(one);
      }),
      { numRuns: 1500 },
    );
    for (const one of [
      '👩‍👩‍👧‍👦 🏳️‍🌈 ❤️‍🔥 👩🏽‍⚕️ 🏴‍☠️ 1️⃣ ©️',
      'می‌خواهم',
      'שלום עולם',
      'مرحبا',
      'नमस्ते क्‍ष',
      'Ünï-cödé “x” — 日本語',
      'e\u0301',
    ]) {
      expect(clean(one)).to.equal(one);
    }
  });

  for (const [what, given, expected] of [
    ['colours', `${ESC}[1;31mred${ESC}[0m text`, 'red text'],
    ['a title', `a${ESC}]0;evil\u0007b`, 'ab'],
    ['a title with its other end', `a${ESC}]0;evil${ESC}\\b`, 'ab'],
    ['a link', `${ESC}]8;;https://example.org${ESC}\\here${ESC}]8;;${ESC}\\`, 'here'],
    ['a title without end', `a${ESC}]0;evil`, 'a'],
    ['a sequence without end', `a${ESC}[31`, 'a31'],
    ['a lone escape', `a${ESC}`, 'a'],
    ['an 8-bit sequence', 'a\u009b31mb', 'ab'],
    ['an 8-bit string', 'a\u009d0;evil\u009cb', 'ab'],
    ['a device string', `a${ESC}P1$r0m${ESC}\\b`, 'ab'],
    ['a character set', `a${ESC}(0b`, 'ab'],
    ['a sequence that hides one', `a${ESC}${ESC}[31m[31mb`, 'a[31mb'],
    ['line ends and tabs', 'a\r\nb\tc\u2028d', 'a b c d'],
    ['a bell and a backspace', 'a\u0007b\u0008c', 'abc'],
    ['what has no width', 'a\u200bb\u2060c\ufeffd\u00ade\u180ef', 'abcdef'],
    ['tags', 'a\u{e0068}\u{e0069}b \u{1f3f4}\u{e0067}\u{e0062}\u{e007f}', 'ab \u{1f3f4}'],
    ['joiners that join nothing', 'pay\u200dpal\u200c \u200d\u{1f469}\u200d', 'paypal \u{1f469}'],
    ['selectors that select nothing', 'a\ufe0f\ufe01b\u{e0100} \u2764\ufe0f\ufe0f\ufe0e', 'ab \u2764\ufe0f'],
    ['direction', 'a\u202eb\u2066c\u200fd\u061ce', 'abcde'],
  ] as const) {
    it(`takes ${what} out`, () => {
      expect(clean(given)).to.equal(expected);
    });
  }

  long('takes time in proportion to the length', () => {
    // With backtracking, these would outlast the time limit of the test.
    for (const piece of [`${ESC}]`, `${ESC}[`, `${ESC}[0;`, '\u009b ', `${ESC} `])
      expect(clean(piece.repeat(200_000))).not.to.include(ESC);
  });
});
