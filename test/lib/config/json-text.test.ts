import { expect } from 'chai';
import fc from 'fast-check';

import { parseJson } from '../../../src/lib/config/text';

describe('config: JSON texts', () => {
  it('accepts whatever JSON.stringify writes, and gives it back', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
        expect(parseJson(JSON.stringify(value, null, indent))).to.deep.equal({
          value: JSON.parse(JSON.stringify(value)) as unknown,
        });
      }),
    );
  });

  it('refuses exactly what JSON.parse refuses', () => {
    const piece = fc.constantFrom(
      ...[
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"a"',
        '"b"',
        '1',
        '-',
        '01',
        '1.5e3',
        'tru',
        'true',
        'null',
        ' ',
        '\n',
      ],
      ...['"', '\\', '"\\u12"', '"\\x"', '"\t"', '\u00a0', 'NaN', '+1', '1.', '.5', '//', "'a'"],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const text = pieces.join('');
        const parsed = parseJson(text);
        // Only a key that stands twice is refused here and there not.
        if ('problem' in parsed && parsed.problem.message === 'duplicate key') return;
        expect('value' in parsed, text).to.equal(parses(text));
      }),
      { numRuns: 1000 },
    );
  });

  it('names line and column of what is wrong', () => {
    const cases: [string, number, number, string][] = [
      ['{\n  "a": 1,\n  "b": 2,\n}', 4, 1, 'property name expected'],
      ['{"a" 1}', 1, 6, 'colon expected'],
      ['{"a": yes}', 1, 7, 'invalid symbol'],
      ['[1 2]', 1, 4, 'comma expected'],
      ['{"a": 1 "b"', 1, 9, 'comma expected'],
      ['{"a": "x', 1, 7, 'unexpected end of string'],
      ['{"a": "\\q"}', 1, 7, 'invalid escape character'],
      ['', 1, 1, 'value expected'],
      ['{} {}', 1, 4, 'end of file expected'],
      ['{"a": 1,\r\n "a": 2}', 2, 2, 'duplicate key'],
      ['['.repeat(100_000), 1, 65, 'more than 64 levels deep'],
    ];
    for (const [text, line, column, message] of cases) {
      expect(parseJson(text), text.slice(0, 40)).to.deep.equal({ problem: { line, column, message } });
    }
  });

  it('counts no bracket of a string as a level', () => {
    const value = ['['.repeat(100), '\\"['.repeat(100)];
    expect(parseJson(JSON.stringify(value))).to.deep.equal({ value });
  });

  it('sees the same key in two spellings', () => {
    expect(parseJson('{"a":1,"\\u0061":2}')).to.have.nested.property('problem.message', 'duplicate key');
  });
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
