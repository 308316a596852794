import { readFileSync } from 'node:fs';

import { expect } from 'chai';
import fc from 'fast-check';

import { StewardError } from '../../../src/lib/errors';
import { explainClassification, foldName, makeClassifier, APP_KINDS } from '../../../src/lib/time/classify';
import { parseClassifyRules } from '../../../src/lib/sense/classify-file';
import { thrown } from '../../helpers/errors';
import { long } from '../../helpers/long';

const FILE = 'sense/classify.yaml';

async function problemsOf(text: string): Promise<string> {
  try {
    await parseClassifyRules(text, FILE);
  } catch (error) {
    expect(error).to.be.instanceOf(StewardError);
    expect((error as StewardError).kind).to.equal('config');
    expect((error as StewardError).hint)
      .to.be.a('string')
      .and.not.equal('');
    return (error as StewardError).message;
  }
  throw new Error('expected a config error');
}

describe('sense: classification', () => {
  const shipped = makeClassifier('templates');

  it('throws when its shipped rules are missing', () => {
    expect(() => makeClassifier('no-such-folder')('Code', undefined)).to.throw(
      /applications\.json is missing/,
    );
  });

  it('classifies applications by the names on three systems', () => {
    for (const [app, bundleId, kind] of [
      ['Code', undefined, 'creation'],
      ['Visual Studio Code', 'com.microsoft.VSCode', 'creation'],
      ['Visual Studio Code', 'Code.exe', 'creation'],
      ['Ghostty', 'com.mitchellh.ghostty', 'creation'],
      ['Microsoft Excel', 'EXCEL.EXE', 'creation'],
      ['Firefox', 'org.mozilla.firefox.desktop', 'consumption'],
      ['Navigator', 'firefox', 'consumption'],
      ['RStudio', 'com.rstudio.desktop', 'creation'],
      ['com.hnc.Discord', 'Proton.ch.protonmail.desktop', 'consumption'],
      ['msedge.exe', undefined, 'consumption'],
      ['Slack', 'com.tinyspeck.slackmacgap', 'consumption'],
      ['X', undefined, 'consumption'],
      ['Arc', undefined, 'consumption'],
      ['Steam', undefined, 'consumption'],
      ['Finder', 'com.apple.finder', 'neutral'],
      ['1Password', undefined, 'neutral'],
      ['org.gnome.Nautilus', undefined, 'neutral'],
    ] as const) {
      expect(shipped(app, bundleId), `${app} ${bundleId}`).to.have.property('kind', kind);
      expect(shipped(app, bundleId).rule, `${app} ${bundleId}`).to.have.property('origin', 'shipped');
    }
  });

  it('compares whole names only', () => {
    expect(shipped('Excel').kind).to.equal('creation');
    for (const app of [
      'search engine',
      'Archive',
      'XY',
      'Codec',
      'Slacker',
      'My Firefox Notes',
      'Wordle',
      '',
    ]) {
      expect(shipped(app), app).to.deep.equal({ kind: 'neutral' });
    }
    for (const app of ['__proto__', 'constructor', 'toString']) {
      expect(shipped(app, app), app).to.deep.equal({ kind: 'neutral' });
    }
  });

  it('ignores case in every script', async () => {
    const rules = await parseClassifyRules(
      '- {app: Straße, kind: creation}\n- {app: ΟΔΟΣ, kind: consumption}\n- {app: "Cafe\\u0301", kind: creation}\n',
      FILE,
    );
    const classify = makeClassifier('templates', rules);
    expect(classify('STRASSE').kind).to.equal('creation');
    expect(classify('οδος').kind).to.equal('consumption');
    expect(classify('οδοσ').kind).to.equal('consumption');
    expect(classify('CAFÉ').kind).to.equal('creation');
    expect(classify('Cafe').rule).to.equal(undefined);
  });

  long('folds any name to one text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (name) => {
        expect(foldName(foldName(name))).to.equal(foldName(name));
        expect(foldName(name.normalize('NFD'))).to.equal(foldName(name.normalize('NFC')));
      }),
    );
    for (let code = 0; code <= 0x10ffff; code++) {
      const name = `a${String.fromCodePoint(code)}b`;
      const folded = foldName(name);
      if (foldName(folded) !== folded || foldName(name.toUpperCase()) !== folded) expect.fail(name);
    }
    expect(foldName('ГОСУСЛУГИ')).to.equal(foldName('Госуслуги'));
  });

  it('uses the first rule that matches, yours before the shipped ones', async () => {
    const rules = await parseClassifyRules(
      [
        'version: 1',
        'rules:',
        '  - {bundleId: com.apple.Preview, kind: neutral}',
        '  - {app: firefox, kind: creation}',
        "  - {glob: 'jet*', kind: consumption}",
        '  - {app: Jetpack, kind: creation}',
        '  - {app: Firefox, kind: neutral}',
      ].join('\n'),
      FILE,
    );
    const classify = makeClassifier('templates', rules);
    expect(classify('Firefox')).to.deep.equal({
      kind: 'creation',
      rule: { index: 2, origin: 'user', text: 'app: firefox' },
    });
    expect(classify('Jetpack').rule).to.deep.equal({ index: 3, origin: 'user', text: 'glob: jet*' });
    expect(classify('Vorschau', 'com.apple.preview').rule).to.have.property('index', 1);
    expect(classify('Firefox', 'com.apple.Preview').rule).to.have.property('index', 1);
    expect(classify('com.apple.Preview').rule?.origin, 'bundleId does not look at the name').to.equal(
      'shipped',
    );
    expect(classify('Slack').rule?.origin).to.equal('shipped');
  });

  it('matches globs over names and ids, without case, across dots and slashes', async () => {
    const rules = await parseClassifyRules(
      "- {glob: 'steam_app_*', kind: consumption}\n- {glob: 'com.Example.*', kind: creation}\n- {glob: '*{draft,Skizze}*', kind: creation}\n",
      FILE,
    );
    const classify = makeClassifier('templates', rules);
    expect(classify('Steam_App_570').kind).to.equal('consumption');
    expect(classify('Anything', 'com.example.a.b').kind).to.equal('creation');
    expect(classify('a/b .skizze. c').kind).to.equal('creation');
    expect(classify('my steam_app_570').rule).to.equal(undefined);
  });

  it('treats a star outside a glob as a character', async () => {
    const classify = makeClassifier(
      'templates',
      await parseClassifyRules("- {app: 'Fire*', kind: creation}", FILE),
    );
    expect(classify('Firefly').rule).to.equal(undefined);
    expect(classify('fire*').kind).to.equal('creation');
  });

  it('reads comments, an empty list and the template as no rules', async () => {
    const template = readFileSync('templates/classify.yaml', 'utf8');
    for (const text of [
      '',
      '# nothing\n\n  # more\r\n',
      '\ufeff# bom\n',
      'rules: []\n',
      'rules:\n',
      '[]',
      template,
    ]) {
      expect(await parseClassifyRules(text, FILE), JSON.stringify(text.slice(0, 30))).to.deep.equal([]);
    }
    const shown = template.replace(/^# (- \{)/gm, '$1');
    expect(await parseClassifyRules(shown, FILE), 'the examples are rules').to.have.length(3);
  });

  it('reports all problems at once, by rule', async () => {
    const message = await problemsOf(
      [
        '- {app: Firefox, kind: fun}',
        '- {app: 7, kind: creation}',
        '- {name: Slack, kind: neutral}',
        '- Slack',
        '- {app: A, glob: "a*", kind: creation}',
        '- {bundleId: " ", kind: creation}',
        '- {app: Fine, kind: creation}',
        '- {app: "\\e[31mred", title: x, kind: creation}',
      ].join('\n'),
    );
    const expected =
      'expected a string under one of app, bundleId, glob, and a kind that is one of creation, consumption, neutral; found';
    expect(message.split('\n')).to.deep.equal([
      'sense/classify.yaml has 7 problems:',
      `  rule 1: ${expected} {"app":"Firefox","kind":"fun"}`,
      `  rule 2: ${expected} {"app":7,"kind":"creation"}`,
      `  rule 3: ${expected} {"name":"Slack","kind":"neutral"}`,
      `  rule 4: ${expected} "Slack"`,
      `  rule 5: ${expected} {"app":"A","glob":"a*","kind":"creation"}`,
      `  rule 6: ${expected} {"bundleId":" ","kind":"creation"}`,
      `  rule 8: ${expected} {"app":"\\u001b[31mred","title":"x","kind":"creation"}`,
    ]);
  });

  it('names the line of invalid YAML, and refuses other shapes', async () => {
    expect(await problemsOf('- {app: Firefox\n- b')).to.match(
      /^sense\/classify\.yaml is not valid YAML \(line \d+/,
    );
    expect(await problemsOf('creation: [Firefox]')).to.include('unknown key "creation"; expected "rules"');
    expect(await problemsOf('rules: 3')).to.include('expected a list of rules, found 3');
    expect(await problemsOf('version: 2\nrules: []')).to.include('version: expected 1, found 2');
    expect(await problemsOf('just text')).to.include('found "just text"');
    const bomb = `a: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a]\nrules: [*b, *b, *b, *b, *b, *b, *b, *b, *b]`;
    expect(await problemsOf(bomb)).to.include('aliases');
  });

  it('refuses an empty name', () => {
    for (const app of ['', '  '])
      expect(thrown(() => explainClassification(makeClassifier('templates'), FILE, app))).to.have.property(
        'kind',
        'usage',
      );
  });

  it('explains which rule matched', async () => {
    const classify = makeClassifier(
      'templates',
      await parseClassifyRules('- {app: Slack, kind: neutral}', FILE),
    );
    expect(explainClassification(classify, FILE, 'slack')).to.deep.equal({
      app: 'slack',
      kind: 'neutral',
      rule: { index: 1, origin: 'user', text: 'app: Slack' },
      explanation: 'slack is neutral because of rule 1 in sense/classify.yaml (app: Slack).',
    });
    expect(explainClassification(classify, FILE, 'firefox').explanation).to.equal(
      'firefox is consumption because of a built-in rule (app: Firefox).',
    );
    const unknown = explainClassification(classify, FILE, 'Foo "Bar"\u001b[31m');
    expect(unknown).to.include({ kind: 'neutral', rule: null });
    expect(unknown.explanation).to.equal(
      'Foo "Bar" is neutral because no rule matches it. To change this: steward sense classify set \'Foo "Bar"\' creation',
    );
  });

  it('ships rules without contradictions', () => {
    const rows = JSON.parse(readFileSync('templates/data/applications.json', 'utf8')) as Record<
      string,
      string[][]
    >;
    const seen = new Map<string, string>();
    for (const kind of APP_KINDS) {
      for (const names of rows[kind] ?? []) {
        for (const name of names) {
          expect(seen.get(foldName(name)), name).to.equal(undefined);
          expect(name, 'a whole name').not.to.match(/[*?{}]|^\s|\s$|\.exe$/);
          seen.set(foldName(name), kind);
        }
      }
    }
    expect(APP_KINDS.map((kind) => (rows[kind] ?? []).length >= 20)).to.deep.equal([true, true, true]);
    for (const [name, kind] of seen) expect(shipped(name).kind, name).to.equal(kind);
  });
});
