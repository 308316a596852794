import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { commands } from '../../../oclif.manifest.json';
import { PAGES } from '../../helpers/browser';

describe('the files of the pages', () => {
  const names = readdirSync(PAGES);
  const text = (name: string): string => readFileSync(join(PAGES, name), 'utf8');

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
