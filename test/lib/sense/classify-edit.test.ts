import { existsSync } from 'node:fs';

import { expect } from 'chai';

import type { StewardError } from '../../../src/lib/errors';
import { makeClassifier } from '../../../src/lib/sense/classify';
import { parseClassifyRules, setAppKind, withAppRule } from '../../../src/lib/sense/classify-file';
import { rejection } from '../../helpers/errors';
import { senseBox } from '../../helpers/sense';

describe('sense: setting a rule of classify.yaml', () => {
  const set = (text: string, app = 'Firefox') => withAppRule(text, 'classify.yaml', app, 'creation');

  const cases: [what: string, before: string, after: string][] = [
    ['a file with comments alone', '# mine\n', '# mine\n- {app: "Firefox", kind: creation}\n'],
    ['an empty file', '', '- {app: "Firefox", kind: creation}\n'],
    [
      'a list, as its first rule',
      '# top\n- app: Code # editor\n  kind: neutral\n# end\n',
      '# top\n- {app: "Firefox", kind: creation}\n- app: Code # editor\n  kind: neutral\n# end\n',
    ],
    [
      'a list under rules, in Windows line breaks',
      'version: 1\r\nrules:\r\n  # mine\r\n  - {glob: "fire*", kind: neutral}\r\n',
      'version: 1\r\nrules:\r\n  # mine\r\n  - {app: "Firefox", kind: creation}\r\n  - {glob: "fire*", kind: neutral}\r\n',
    ],
    [
      'the rule of that application, in any case',
      '- {app: Code, kind: neutral}\n- app: FIREFOX # browser\n  kind: consumption # until now\n',
      '- {app: Code, kind: neutral}\n- app: FIREFOX # browser\n  kind: creation # until now\n',
    ],
    [
      'a rule behind a glob that matches too',
      '- {glob: "fire*", kind: neutral}\n- {app: Firefox, kind: neutral}\n',
      '- {app: "Firefox", kind: creation}\n- {glob: "fire*", kind: neutral}\n- {app: Firefox, kind: neutral}\n',
    ],
  ];
  for (const [what, before, after] of cases) {
    it(`changes ${what}`, async () => {
      const text = await set(before);
      expect(text).to.equal(after);
      const classify = makeClassifier('templates', await parseClassifyRules(text, 'classify.yaml'));
      expect(classify('Firefox', 'org.mozilla.firefox').kind).to.equal('creation');
    });
  }

  it('takes any name, and gives it back to the rules', async () => {
    for (const app of ['GNU "Emacs": #1', "l'app", '日本語', '- x', 'a\\b']) {
      const rules = await parseClassifyRules(await set('', app), 'classify.yaml');
      expect(makeClassifier('templates', rules)(app)).to.deep.include({ kind: 'creation' });
    }
  });

  it('leaves alone what it cannot read, or not change', async () => {
    const failed = async (text: string, app?: string): Promise<string> => {
      try {
        return await set(text, app);
      } catch (error) {
        return (error as StewardError).kind;
      }
    };
    expect(await failed('- {app: Code}\n')).to.equal('config');
    expect(await failed('[{app: Code, kind: neutral}]\n')).to.equal('config');
    expect(await failed('', ' ')).to.equal('usage');
  });

  it('refuses a day to come, and writes nothing', async () => {
    const box = senseBox('2026-11-20T12:00:00Z');
    try {
      const files = { templates: 'templates', path: box.area.sense.classify };
      const rule = { app: 'Firefox', kind: 'creation' as const, since: '2026-11-21' };
      const error = await rejection(setAppKind(box.deps, files, rule));
      expect(error).to.have.property('kind', 'usage');
      expect(error).to.have.property('hint').that.is.a('string');
      expect(existsSync(files.path)).to.equal(false);
    } finally {
      box.remove();
    }
  });
});
