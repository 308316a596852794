import { expect } from 'chai';
import fc from 'fast-check';

import { bareContent, parseYaml } from '../../../src/lib/config/text';

describe('config: YAML texts', () => {
  it('are known without the library exactly when they hold no key but version', async () => {
    const line = fc.constantFrom(
      '',
      '# a',
      '  # a: b',
      'version: 1',
      'version: 2 ',
      '\t',
      ' version: 1',
      'a: 1',
      '- b',
    );
    const text = fc.tuple(fc.array(line, { maxLength: 5 }), fc.constantFrom('\n', '\r\n'));
    await fc.assert(
      fc.asyncProperty(text, async ([lines, eol]) => {
        const source = lines.join(eol);
        const bare = bareContent(source);
        if (bare === undefined) return;
        const parsed = await parseYaml(source);
        expect('value' in parsed && (parsed.value ?? {}), source).to.deep.equal(bare);
      }),
    );
    expect(bareContent('# a\nversion: 1\n\n')).to.deep.equal({ version: 1 });
    expect(bareContent('\ufeff# a\r\n')).to.deep.equal({});
    for (const source of ['a: 1\n', 'version: 1\nversion: 1\n', 'version: x\n', 'version: 1 2\n', '---\n']) {
      expect(bareContent(source), source).to.equal(undefined);
    }
  });

  it('that do not close a bracket are told apart from those with a wrong indentation', async () => {
    const messageOf = async (source: string): Promise<string | undefined> => {
      const parsed = await parseYaml(source);
      return 'problem' in parsed ? parsed.problem.message : undefined;
    };
    for (const source of ['da: [Ann\n', 'da: {name: Ann\nprincipal: {}\n'])
      expect(await messageOf(source), source).to.match(/^a "\[" or "\{" above is not closed/);
    expect(await messageOf('da:\n    name: Ann\n  voices: 1\n')).not.to.match(/closed/);
  });
});
