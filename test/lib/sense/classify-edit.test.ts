import { existsSync } from 'node:fs';

import { expect } from 'chai';

import type { StewardError } from '../../../src/lib/errors';
import { makeClassifier } from '../../../src/lib/time/classify';
import { parseClassifyRules, setAppKind } from '../../../src/lib/sense/classify-file';
import { classifiedText } from '../../../src/lib/sense/view-status';
import { rejection } from '../../helpers/errors';
import { senseBox, type SenseBox } from '../../helpers/sense';
import { long } from '../../helpers/long';

describe('sense: setting a rule of classify.yaml', () => {
  let box: SenseBox;
  beforeEach(() => {
    box = senseBox('2026-11-20T12:00:00Z');
  });
  afterEach(() => box.remove());

  it('says how to name a site, where a host name was classified as an application', () => {
    const text = (app: string): string =>
      classifiedText({ app, kind: 'creation', file: 'classify.yaml', rolled: [], kept: [] });
    expect(text('docs.rs')).to.equal(
      'docs.rs (for the site, use site:docs.rs) now counts as creation (classify.yaml).',
    );
    expect(text('site:docs.rs')).to.equal('site:docs.rs now counts as creation (classify.yaml).');
  });

  async function set(text: string, app = 'Firefox', since?: string): Promise<string> {
    const path = text === '' ? box.area.sense.classify : box.write('sense/classify.yaml', text);
    await setAppKind(box.deps, { templates: 'templates', path }, { app, kind: 'creation', since });
    return box.read('sense/classify.yaml');
  }

  const cases: [what: string, before: string, after: string][] = [
    ['a file of comments', '# mine\n', '# mine\n- {app: "Firefox", kind: creation}\n'],
    ['an empty file', '', '- {app: "Firefox", kind: creation}\n'],
    [
      'a list, as its first rule',
      '- app: Code # editor\n  kind: neutral\n# end\n',
      '- {app: Firefox, kind: creation}\n- app: Code # editor\n  kind: neutral\n\n# end\n',
    ],
    [
      'a list under rules, with Windows line ends',
      'version: 1\r\nrules:\r\n  # mine\r\n  - {glob: "fire*", kind: neutral}\r\n',
      'version: 1\r\nrules:\r\n  # mine\r\n  - {app: Firefox, kind: creation}\r\n  - {glob: "fire*", kind: neutral}\r\n',
    ],
    ['empty rules', 'rules:\n', 'rules:\n  - {app: Firefox, kind: creation}\n'],
    ['a list on one line', '[]\n', '[{app: Firefox, kind: creation}]\n'],
    [
      'the rule of that application, in any case',
      '- {app: Code, kind: neutral}\n- app: FIREFOX # browser\n  kind: consumption # until now\n',
      '- {app: Code, kind: neutral}\n- app: FIREFOX # browser\n  kind: creation # until now\n',
    ],
    [
      'a rule after a glob that matches too',
      '- {glob: "fire*", kind: neutral}\n- {app: Firefox, kind: neutral}\n',
      '- {app: Firefox, kind: creation}\n- {glob: "fire*", kind: neutral}\n- {app: Firefox, kind: neutral}\n',
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

  long('accepts any name', async () => {
    for (const text of ['# mine\n', '- {app: Code, kind: neutral}\n'])
      for (const app of ['GNU "Emacs": #1', "l'app", '日本語', '- x', 'a\\b']) {
        const rules = await parseClassifyRules(await set(text, app), 'classify.yaml');
        expect(makeClassifier('templates', rules)(app)).to.deep.include({ kind: 'creation' });
      }
  });

  it('is about the site where a browser is named with one', async () => {
    expect(await set('', 'Firefox: example.org')).to.equal('- {app: "site:example.org", kind: creation}\n');
    expect(await set('', 'site:Müller.de')).to.include('app: site:xn--mller-kva.de, kind: creation');
    const rules = await parseClassifyRules(box.read('sense/classify.yaml'), 'classify.yaml');
    const classify = makeClassifier('templates', rules);
    expect(classify('Chromium: www.example.org').kind).to.equal('creation');
    expect(classify('Firefox: other sites').kind).to.equal('consumption');
  });

  it('refuses an invalid file, an empty name and a future day, and writes nothing', async () => {
    const kindOf = async (...args: Parameters<typeof set>): Promise<string> =>
      ((await rejection(set(...args))) as StewardError).kind;
    expect(await kindOf('', ' ')).to.equal('usage');
    expect(await kindOf('', 'Firefox', '2026-11-21')).to.equal('usage');
    expect(existsSync(box.area.sense.classify)).to.equal(false);
    expect(await kindOf('- {app: Code}\n')).to.equal('config');
    expect(box.read('sense/classify.yaml')).to.equal('- {app: Code}\n');
  });
});
