import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { byteSearch, lineSearch } from '../../../../src/lib/platform/files/line-search';

describe('platform/line-search', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'steward-lines-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const linesOf = (text: string, forms: readonly string[][], maxBytes: number): string[] => {
    const path = join(folder, 'log');
    writeFileSync(path, text);
    const lines: string[] = [];
    expect(lineSearch(forms.map(byteSearch), maxBytes)(path, (line) => lines.push(line))).to.equal(true);
    return lines;
  };

  it('finds a text in any of its forms, and nothing beyond the end', () => {
    const search = byteSearch(['köln', 'KÖLN', 'k\\u00f6ln']);
    const at = (text: string): number => search(Buffer.from(text), 0, Buffer.from(text).length);
    expect(['xxköln', 'KÖLN', 'aKöLN', 'k\\u00f6ln', 'koln', 'köl', ''].map(at)).to.deep.equal([
      ...[2, 0, 1, 0],
      ...[-1, -1, -1],
    ]);
    expect(search(Buffer.from('köln'), 0, 4)).to.equal(-1);
    expect(byteSearch(['aab'])(Buffer.from('aaab'), 0, 4)).to.equal(1);
  });

  it('finds the same lines as a split of the text, wherever the parts end', () => {
    let seed = 7;
    const next = (limit: number): number => (seed = (seed * 48_271) % 2_147_483_647) % limit;
    for (let round = 0; round < 400; round += 1) {
      const lines = Array.from({ length: 1 + next(9) }, () =>
        Array.from({ length: next(40) }, () => 'abAB.'[next(5)]).join(''),
      );
      const maxBytes = 8 + next(60);
      const [head = '', ...others] = lines;
      const wanted = others.filter((line) => /ab/i.test(line) && /b[ab]/i.test(line));
      const fitting = [head, ...wanted].filter((line) => line.length < maxBytes);
      const forms = [
        ['ab', 'AB'],
        ['ba', 'bb', 'BA', 'BB'],
      ];
      const found = linesOf(lines.join('\n') + (next(2) === 0 ? '\n' : ''), forms, maxBytes);
      expect(found.filter(Boolean), JSON.stringify([lines, maxBytes])).to.deep.equal(fitting.filter(Boolean));
    }
  });

  it('says that there is no file', () => {
    expect(lineSearch([byteSearch(['a'])], 100)(join(folder, 'none'), () => undefined)).to.equal(undefined);
  });
});
