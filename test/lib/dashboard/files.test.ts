import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { commands } from '../../../oclif.manifest.json';
import { PAGES } from '../../helpers/browser';

describe('the files of the pages', () => {
  const names = readdirSync(PAGES);
  const text = (name: string): string => readFileSync(join(PAGES, name), 'utf8');

  it('are 120 KiB in all at most', () => {
    expect(names.reduce((sum, name) => sum + statSync(join(PAGES, name)).size, 0)).to.be.at.most(120 * 1024);
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
