import { expect } from 'chai';
import fc from 'fast-check';

import { setInJson } from '../../../src/lib/config/edit';
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
        if ('problem' in parsed && parsed.problem.message === 'this key stands twice') return;
        expect('value' in parsed, text).to.equal(parses(text));
      }),
      { numRuns: 3000 },
    );
  });

  it('names line and column of what is wrong', () => {
    const cases: [string, number, number, string][] = [
      ['{\n  "a": 1,\n  "b": 2,\n}', 4, 1, 'a key in double quotes is expected here'],
      ['{"a" 1}', 1, 6, 'a colon is expected here'],
      ['{"a": yes}', 1, 7, 'a value is expected here'],
      ['[1 2]', 1, 4, 'a comma or a closing bracket is expected here'],
      ['{"a": 1 "b"', 1, 9, 'a comma or a closing brace is expected here'],
      ['{"a": "x', 1, 9, 'the closing quote of a text is missing'],
      ['{"a": "\\q"}', 1, 8, 'this escape is unknown'],
      ['', 1, 1, 'the text ends where a value is expected'],
      ['{} {}', 1, 4, 'more text after the end of the value'],
      ['{"a": 1,\r\n "a": 2}', 2, 2, 'this key stands twice'],
      ['['.repeat(100_000), 1, 65, 'more than 64 levels deep'],
    ];
    for (const [text, line, column, message] of cases) {
      expect(parseJson(text), text.slice(0, 40)).to.deep.equal({ problem: { line, column, message } });
    }
  });

  it('sees the same key in two spellings', () => {
    expect(parseJson('{"a":1,"\\u0061":2}')).to.have.nested.property(
      'problem.message',
      'this key stands twice',
    );
  });

  it('keeps indentation, line breaks, byte order mark and the end of the text', () => {
    expect(setInJson('{\n\t"a": 1\n}\n', { a: 2 })).to.equal('{\n\t"a": 2\n}\n');
    expect(setInJson('{\r\n    "a": 1\r\n}', { a: 2 })).to.equal('{\r\n    "a": 2\r\n}');
    expect(setInJson('\ufeff{"a":1}', { a: 2 })).to.equal('\ufeff{"a":2}');
    expect(setInJson(undefined, { a: 2 })).to.equal('{\n  "a": 2\n}\n');
    expect(setInJson('{}\n', { a: 2 })).to.equal('{\n  "a": 2\n}\n');
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
