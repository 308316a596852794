import { expect } from 'chai';

import { parseYaml } from '../../../src/lib/platform/files/yaml-document';

describe('config: YAML texts', () => {
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
