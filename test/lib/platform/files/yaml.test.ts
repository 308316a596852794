import { expect } from 'chai';
import fc from 'fast-check';
import { parse } from 'yaml';

import { bodyOf, frontMatter, listValue, scalar } from '../../../../src/lib/platform/files/yaml';

describe('front matter', () => {
  it('is what stands between two marks at the beginning', () => {
    expect(frontMatter('---\na: 1\nb: 2\n---\nbody')).to.deep.equal(['a: 1', 'b: 2']);
    expect(frontMatter('\ufeff---\r\na: 1\r\n...\r\nbody')).to.deep.equal(['a: 1']);
    for (const text of ['', 'a', '---', '---\na: 1', '\n---\na\n---\n', '----\na\n---\n']) {
      expect(frontMatter(text), text).to.equal(undefined);
    }
    expect(bodyOf('---\na: 1\n---\n\nbody\nmore')).to.equal('body\nmore');
    expect(bodyOf('just text')).to.equal('just text');
  });

  it('is the same whatever lines the text is made of', () => {
    const asSplit = (text: string): string[] | undefined => {
      const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
      const end = lines.findIndex((line, index) => index > 0 && /^(?:---|\.\.\.)\s*$/.test(line));
      return lines[0]?.trimEnd() !== '---' || end === -1 ? undefined : lines.slice(1, end);
    };
    const part = fc.constantFrom('---', '...', '--- ', '----', 'a: 1', '', '\r', '\n', '\r\n', '\ufeff', ' ');
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const text = `---\n${parts.join('')}`;
        for (const one of [text, parts.join('')]) expect(frontMatter(one)).to.deep.equal(asSplit(one));
      }),
    );
  });

  it('has lists in a line, with commas, or a line each', () => {
    expect(listValue(['tags: [a, "b c", \'d\'] # x'], 'tags')).to.deep.equal(['a', 'b c', 'd']);
    expect(listValue(['tags: a, b'], 'tags')).to.deep.equal(['a', 'b']);
    expect(listValue(['x: 1', 'tags:', '  - a # one', '', '  - "b"', 'y: 2', '  - c'], 'tags')).to.deep.equal(['a', 'b']); // prettier-ignore
    for (const lines of [[], ['tags:'], ['tags: []'], ['tagsy: [a]'], [' tags: [a]'], ['tags: # none']]) {
      expect(listValue(lines, 'tags'), lines.join()).to.deep.equal([]);
    }
  });

  it('reads simple texts as the library does', () => {
    const text = fc.stringMatching(/^[A-Za-z][A-Za-z0-9 .,'"#-]{0,30}[A-Za-z]$/);
    fc.assert(
      fc.property(text, (value) => {
        for (const written of [JSON.stringify(value), `'${value.replaceAll("'", "''")}'`]) {
          expect(scalar(` ${written} # comment`)).to.equal(value);
          expect(parse(`k: ${written}`)).to.deep.equal({ k: value });
        }
      }),
    );
  });
});
