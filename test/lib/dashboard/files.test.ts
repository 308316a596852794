import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { commands } from '../../../oclif.manifest.json';
import { withoutComments } from '../../../src/lib/daemon/page-text';
import { PAGES } from '../../helpers/browser';

describe('the files of the pages', () => {
  const names = readdirSync(PAGES);
  const text = (name: string): string => readFileSync(join(PAGES, name), 'utf8');

  it('are 150 kB in all at most, as the daemon sends them', () => {
    const sizes = names.map((name) => Buffer.byteLength(withoutComments(text(name))));
    expect(sizes.reduce((sum, size) => sum + size, 0)).to.be.at.most(150_000);
  });

  it('have no text that spans lines, which the daemon would change', () => {
    for (const name of names.filter((one) => one.endsWith('.js')))
      for (const line of text(name).split('\n'))
        expect(line.split('`').length % 2, `${name}: ${line}`).to.equal(1);
    for (const name of names) expect(text(name), name).not.to.match(/<(?:pre|textarea)/);
  });

  it('are sent without comments, types and most line breaks', () => {
    const script = [
      '/**',
      ' * @param {string} a',
      ' */',
      'export function f(a) {',
      '  // Why.',
      '  const b = /** @type {any} */ (a);',
      "  return b + '/* no comment */'; /* one */",
      '}',
      '',
    ];
    expect(withoutComments(script.join('\n'))).to.equal(
      "export function f(a){const b = (a);return b + '/* no comment */'; /* one */\n}",
    );
    expect(withoutComments('/* a */ b {\n  c: d;\n}\n')).to.equal('b{c:d;}');
    expect(withoutComments('<p>\n  one,\n  two\n</p>\n')).to.equal('<p>\none,\ntwo\n</p>\n');
  });

  it('have nothing inline, and name no other host', () => {
    for (const name of names.filter((one) => one.endsWith('.html'))) {
      expect(text(name), name).not.to.match(/\sstyle=|\son[a-z]+=|<style|<script(?![^>]*\ssrc=)/);
    }
    for (const name of names) {
      const hosts = text(name).match(/\b(https?:)?\/\/[\w.]+\.\w+\S*/g) ?? [];
      // The name of a format, which is never fetched.
      expect(
        hosts.filter((host) => !host.startsWith('http://www.w3.org/2000/svg')),
        name,
      ).to.deep.equal([]);
    }
  });

  it('have a CSS rule for every class', () => {
    const textOf = (end: RegExp): string =>
      names
        .filter((name) => end.test(name))
        .map(text)
        .join('\n');
    const css = textOf(/\.css$/).replace(/\/\*.*?\*\//gs, '');
    const rules = [...css.matchAll(/\.([a-z][\w-]*)/g)].map(([, name]) => name!);
    const code = textOf(/\.(html|js)$/);
    const used = [
      ...[...code.matchAll(/class="([^"]+)"/g)].map(([, list]) => list!),
      ...[...code.matchAll(/'[a-z]+\d?((?:\.[a-z-]+)+)'/g)].map(([, list]) => list!.replaceAll('.', ' ')),
      ...[...code.matchAll(/\bclass(?:Name)?(?:: | = )([^,}\n;]+)/g)].flatMap(([, value]) =>
        [...value!.matchAll(/['`]([\w -]+\$?)/g)].map(([, list]) => list!),
      ),
    ].flatMap((list) => list.split(' ').filter(Boolean));
    expect(used.length).to.be.greaterThan(200);
    // Only a script uses it.
    const without = ['clear'];
    const hasRule = (name: string): boolean =>
      name.endsWith('$')
        ? rules.some((rule) => rule.startsWith(name.slice(0, -1)))
        : rules.includes(name) || without.includes(name);
    expect([...new Set(used)].filter((name) => !hasRule(name))).to.deep.equal([]);
  });

  it('make no markup from text, and run no text', () => {
    for (const name of names.filter((one) => one.endsWith('.js')))
      expect(text(name), name).not.to.match(
        /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function/,
      );
  });

  it('load every module in at most three steps', () => {
    for (const page of names.filter((one) => one.endsWith('.html'))) {
      const known = new Set<string>();
      let step = [...text(page).matchAll(/src="\/assets\/([\w-]+\.js)"/g)].map(([, name]) => name!);
      let steps = 0;
      for (; step.length > 0; steps += 1) {
        for (const name of step) known.add(name);
        const next = step.flatMap((name) =>
          [...text(name).matchAll(/from '\.\/([\w-]+\.js)'/g)].map(([, one]) => one!),
        );
        step = [...new Set(next)].filter((name) => !known.has(name));
      }
      expect(steps, page).to.be.within(1, 3);
    }
  });

  it('name only commands that are there', () => {
    const named = names.flatMap((name) =>
      [...text(name).matchAll(/(?:command\('|<code>)steward ([a-z -]+)/g)].map(([, words]) => words!),
    );
    expect(named.length).to.be.greaterThan(4);
    for (const words of named) {
      const found = Object.keys(commands).some((id) =>
        `${words.trim()} `.startsWith(`${id.replaceAll(':', ' ')} `),
      );
      expect(found, words).to.equal(true);
    }
  });
});
