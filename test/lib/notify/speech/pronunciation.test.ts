import { expect } from 'chai';
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';

import { pronunciationFile, termFinder, parseTerms } from '../../../../src/lib/notify/speech/pronunciation';
import { replaced } from '../../../../src/lib/notify/speech/pronunciation';
import { scratch } from '../../../helpers/scratch';
import { thrown } from '../../../helpers/errors';

const say = (text: string, terms: Record<string, string>): string =>
  replaced(text, termFinder(new Map(Object.entries(terms)))(text));

describe('notify/speech: terms', () => {
  it('replaces whole words only, literally and case-sensitively', () => {
    const terms = { US: 'you ess', sql: 'sequel', 'a.b': 'a dot b', 'C++': 'see plus plus', $x: 'dollar ex' };
    expect(say('US us USA _US US_ (US) US.', terms)).to.equal('you ess us USA _US US_ (you ess) you ess.');
    expect(say('sql mysql sqlite SQL sql-like', terms)).to.equal('sequel mysql sqlite SQL sequel-like');
    expect(say('a.b axb a.bc', terms)).to.equal('a dot b axb a.bc');
    expect(say('C++ in C++17, $x and a$x', terms)).to.equal('see plus plus in C++17, dollar ex and a$x');
  });

  it('replaces the longest term', () => {
    const terms = { Git: 'g', 'Git Hub': 'gh', 'Git Hub Actions': 'gha', Hub: 'h' };
    for (const some of [terms, Object.fromEntries(Object.entries(terms).reverse())]) {
      expect(say('Git Hub Actions, Git Hub, Git Hubs, Git, Hub', some)).to.equal('gha, gh, g Hubs, g, h');
    }
  });

  it('does not search replaced text, and writes $& literally', () => {
    expect(say('a b c', { a: 'b', b: 'c', c: 'a' })).to.equal('b c a');
    expect(say('x', { x: '$& $1 $` $$ \\0' })).to.equal('$& $1 $` $$ \\0');
    expect(say('constructor __proto__ toString', { constructor: 'c', toString: 't' })).to.equal(
      'c __proto__ t',
    );
  });

  it('knows words in other alphabets', () => {
    expect(say('Zoë Zoëlle ёлка ёлки', { Zoë: 'Zo-ee', ёлка: 'yolka' })).to.equal('Zo-ee Zoëlle yolka ёлки');
    // Without spaces between words, each character is one.
    expect(say('東京タワーとAIです', { 東京: 'Tokyo', AI: 'A I' })).to.equal('TokyoタワーとA Iです');
    expect(say('deploy 🚀 done🚀', { '🚀': 'rocket' })).to.equal('deploy rocket done🚀');
    // A combining mark is part of its word.
    expect(say('cafe cafe\u0301', { cafe: 'caff' })).to.equal('caff cafe\u0301');
  });

  it('ends a word before an apostrophe, except in a contraction of "not"', () => {
    expect(say("Don's don't Don’t Don'", { Don: 'Dahn', don: 'x' })).to.equal("Dahn's don't Don’t Dahn'");
  });

  it('matches no half of a character', () => {
    expect(say('\ud83d\ude80', { '\ud83d': 'x' })).to.equal('\ud83d\ude80');
    expect(say('a \ud83d b', { a: 'x', b: 'y' })).to.equal('x \ud83d y');
  });
});

describe('notify/speech: the pronunciation file', () => {
  const pairs = (text: string): unknown => [...parseTerms(text, 'p.json')];
  const box = scratch();

  it('is an object or a list, bare or under a key', () => {
    const expected = [
      ['SQL', 'sequel'],
      ['nginx', 'engine x'],
    ];
    expect(pairs('{"SQL": "sequel", "nginx": "engine x"}')).to.deep.equal(expected);
    expect(pairs('\ufeff{"$schema": "x", "_comment": "mine", "SQL": "sequel", "nginx": "engine x"}')).to.deep.equal(expected); // prettier-ignore
    expect(pairs('[{"term": "SQL", "phonetic": "sequel", "note": "n"}, {"term": "nginx", "say": "engine x"}]')).to.deep.equal(expected); // prettier-ignore
    for (const name of ['terms', 'pronunciations', 'replacements']) {
      expect(pairs(`{"version": 1, "${name}": {"SQL": "sequel", "nginx": "engine x"}}`)).to.deep.equal(
        expected,
      );
      expect(pairs(`{"${name}": [{"term": "SQL", "phonetic": "sequel"}, {"term": "nginx", "spoken": "engine x"}]}`)).to.deep.equal(expected); // prettier-ignore
      expect(pairs(`{"${name}": "tee"}`)).to.deep.equal([[name, 'tee']]);
    }
    expect(pairs('{}')).to.deep.equal([]);
    expect(pairs('{"🙂": "", "x": " a\\u001b[31m\\nb "}')).to.deep.equal([['🙂', ''], ['x', 'a b']]); // prettier-ignore
  });

  it('has all its problems in one error', () => {
    const wrong: [text: string, message: RegExp][] = [
      ['{"a": "b"', /p\.json is invalid: not a JSON/],
      ['{"a":"b"},"x":1', /not a JSON/],
      ['"text"', /not a JSON object or list/],
      ['null', /not a JSON object or list/],
      ['', /not a JSON/],
      ['{"a": 1, "": "x", " b": "y", "c\\n": "z"}', /"a" has a respelling that is not a string.*the term "" is empty.*" b".*"c\\n"/],
      ['{"\\ud83d": "x"}', /lone surrogate/],
      ['[{"term": "a"}, 1, {"phonetic": "x"}]', /item 2 is not an object.*"a" has a respelling that is not a string.*"term" is missing or not a string/],
      ['[{"term": "a", "say": "x"}, {"term": "a", "say": "y"}]', /"a" is listed twice/],
      [JSON.stringify({ a: 'x'.repeat(201) }), /longer than 200/],
      [JSON.stringify(Object.fromEntries(Array.from({ length: 10_001 }, (_, n) => [`t${n}`, 'x']))), /more than 10000 terms/],
      [JSON.stringify(Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`t${n}`, 1]))), /; and 4 more\.$/],
    ]; // prettier-ignore
    for (const [text, message] of wrong) {
      const error = thrown(() => parseTerms(text, 'p.json'));
      expect(error.kind, text).to.equal('config');
      expect(error.message).to.match(message);
      expect(error.hint).to.match(/\{"Kubernetes"/);
    }
  });

  it('is read again only when it has changed', () => {
    const path = box.path('pronunciations.json');
    const now = pronunciationFile(path);
    const said = (): string => replaced('SQL', now().findTerms('SQL'));
    expect([said(), now().problem]).to.deep.equal(['SQL', undefined]);
    writeFileSync(path, '{"SQL": "sequel"}');
    expect(said()).to.equal('sequel');
    expect(now()).to.equal(now());
    writeFileSync(path, '{"SQL": "ess queue ell"}');
    expect(said()).to.equal('ess queue ell');
    rmSync(path);
    expect(said()).to.equal('SQL');
  });

  it('keeps the last valid version if it is invalid', () => {
    const path = box.path('pronunciations.json');
    const now = pronunciationFile(path);
    writeFileSync(path, '{"SQL": ');
    expect(now().problem?.message)
      .to.include(path)
      .and.match(/not a JSON/);
    expect(replaced('SQL', now().findTerms('SQL'))).to.equal('SQL');
    writeFileSync(path, '{"SQL": "sequel"}');
    expect(now().problem).to.equal(undefined);
    writeFileSync(path, '{"SQL": 1}');
    expect(now().problem?.message).to.match(/a respelling that is not a string/);
    expect(now().problem).to.equal(now().problem);
    expect(replaced('SQL', now().findTerms('SQL'))).to.equal('sequel');
  });

  it('is reported if it is a folder, too large or unreadable', function () {
    const folder = box.path('folder');
    mkdirSync(folder);
    expect(pronunciationFile(folder)().problem?.message).to.include(folder);
    const large = box.path('large.json');
    writeFileSync(large, ' '.repeat(5 * 1024 * 1024));
    expect(pronunciationFile(large)().problem?.message).to.match(/larger than/);
    const loop = box.path('loop');
    symlinkSync(loop, loop);
    expect(pronunciationFile(loop)().problem?.message).to.include(loop);
    if (process.getuid?.() === 0) return;
    const closed = box.path('closed.json');
    writeFileSync(closed, '{}');
    chmodSync(closed, 0);
    expect(pronunciationFile(closed)().problem?.message).to.include(closed);
  });

  it('may be a symbolic link', () => {
    writeFileSync(box.path('mine.json'), '{"SQL": "sequel"}');
    symlinkSync(box.path('mine.json'), box.path('link.json'));
    expect(replaced('SQL', pronunciationFile(box.path('link.json'))().findTerms('SQL'))).to.equal('sequel');
  });
});
