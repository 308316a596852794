import { expect } from 'chai';
import fc from 'fast-check';

import { bar, level, minutes, palette, table } from '../../../src/lib/platform/terminal/format';
import { displayWidth, fit, padEnd } from '../../../src/lib/platform/terminal/text-width';
import { terminalOf } from '../../../src/lib/platform/terminal/stdio';
import { toJson } from '../../../src/lib/platform/terminal/error-report';

describe('display width', () => {
  const widths: [text: string, width: number][] = [
    ['', 0],
    ['abc', 3],
    ['3 h 02 m · ████▌', 16],
    ['日本語', 6],
    ['한글', 4],
    ['é', 1],
    ['e\u0301', 1],
    ['👍', 2],
    ['👩‍👩‍👧', 2],
    ['👍🏽', 2],
    ['🇫🇷', 2],
    ['❤️', 2],
    ['Ｆ', 2],
    ['a\u200bb', 2],
    ['\u001b[36mteal\u001b[39m', 4],
    ['\u001b[36m日\u001b[39m', 2],
  ];
  for (const [text, width] of widths) {
    it(`${JSON.stringify(text)} is ${width}`, () => {
      expect(displayWidth(text)).to.equal(width);
    });
  }

  it('never cuts to more than what was asked for, and keeps what fits', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 0, max: 40 }), (text, columns) => {
        const cut = fit(text, columns);
        expect(displayWidth(cut)).to.be.at.most(columns);
        if (displayWidth(text) <= columns) expect(cut).to.equal(text);
      }),
    );
  });

  it('pads by what is shown', () => {
    expect(padEnd('日本', 6)).to.equal('日本  ');
  });
});

describe('output', () => {
  it('writes minutes as a person does', () => {
    expect([0, 14, 46.4, 60, 182, 59.6, 1500].map(minutes)).to.deep.equal([
      '0 m',
      '14 m',
      '46 m',
      '1 h 00 m',
      '3 h 02 m',
      '1 h 00 m',
      '25 h 00 m',
    ]);
  });

  it('draws bars in eighths: empty for nothing, a sliver for little, full for the most', () => {
    expect(bar(0, 10, 10)).to.equal('');
    expect(bar(0.001, 10, 10)).to.equal('▏');
    expect(bar(5, 10, 10)).to.equal('█████');
    expect(bar(10, 10, 3)).to.equal('███');
    expect(bar(99, 10, 3)).to.equal('███');
    expect(bar(1, 16, 10)).to.equal('▋');
    expect(bar(3, 0, 10)).to.equal('');
    expect(bar(Number.NaN, 10, 10)).to.equal('');
    expect([0, 0.1, 4, 8].map((value) => level(value, 8))).to.deep.equal([' ', '▁', '▄', '█']);
  });

  it('aligns tables by width and leaves no spaces at the ends', () => {
    const text = table(
      [
        ['日本', '1', 'x'],
        ['abc', '12', ''],
        ['a long name', '3', 'y'],
      ],
      [{ max: 6 }, { align: 'right' }],
    );
    expect(text).to.equal(['日本     1  x', 'abc     12', 'a lon…   3  y'].join('\n'));
    expect(table([])).to.equal('');
  });

  it('paints only where there is colour', () => {
    expect(palette({ color: false }).creation('x')).to.equal('x');
    expect(palette({ color: true }).creation('x')).to.equal('\u001b[36mx\u001b[39m');
  });

  it('has colour on a terminal, by NO_COLOR and FORCE_COLOR', () => {
    const color = (isTTY: boolean, env: NodeJS.ProcessEnv): boolean => terminalOf({ isTTY }, env).color;
    expect(color(true, {})).to.equal(true);
    expect(color(false, {})).to.equal(false);
    expect(color(true, { TERM: 'dumb' })).to.equal(false);
    expect(color(true, { NO_COLOR: '1' })).to.equal(false);
    expect(color(true, { NO_COLOR: '' })).to.equal(true);
    expect(color(false, { FORCE_COLOR: '1' })).to.equal(true);
    expect(color(true, { FORCE_COLOR: '0' })).to.equal(false);
    expect(color(true, { FORCE_COLOR: '1', NO_COLOR: '1' })).to.equal(false);
  });

  it('has 80 columns without a terminal', () => {
    expect(terminalOf({ isTTY: true, columns: 120 }, {}).columns).to.equal(120);
    expect(terminalOf({ isTTY: true, columns: 0 }, {}).columns).to.equal(80);
    expect(terminalOf({ columns: 120 }, {}).columns).to.equal(80);
  });

  it('has block characters wherever the terminal can show them', () => {
    const unicode = (env: NodeJS.ProcessEnv, isTTY = true): boolean => terminalOf({ isTTY }, env).unicode;
    for (const env of [{}, { LANG: 'de_DE.UTF-8' }, { LC_ALL: 'C.utf8', LANG: 'C' }, { LANG: 'en_US' }])
      expect(unicode(env), JSON.stringify(env)).to.equal(true);
    for (const env of [
      { TERM: 'linux' },
      { LANG: 'C' },
      { LC_ALL: 'POSIX', LANG: 'C.UTF-8' },
      { LANG: 'de_DE.ISO-8859-1' },
    ])
      expect(unicode(env), JSON.stringify(env)).to.equal(false);
    expect(unicode({ TERM: 'linux' }, false)).to.equal(true);
  });

  it('escapes the controls that JSON leaves raw', () => {
    const value = { a: '\u009b2J\u202e\u007f日' };
    const text = toJson(value);
    expect(text).to.equal('{\n  "a": "\\u009b2J\\u202e\\u007f日"\n}\n');
    expect(JSON.parse(text)).to.deep.equal(value);
  });
});
