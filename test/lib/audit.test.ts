import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';

interface Audit {
  shippedIn: (licenses: string) => string[];
  shippedVulnerabilities: (
    vulnerabilities: Record<string, unknown>,
    shipped: readonly string[],
    versionAt: (node: string) => string,
  ) => string[];
}

describe('the audit of what is shipped', () => {
  const root = join(__dirname, '..', '..');
  let audit: Audit;
  before(async () => {
    audit = (await import(pathToFileURL(join(root, 'scripts', 'audit.mjs')).href)) as Audit;
  });

  it('reads what the bundles hold from the list of licences', () => {
    const text =
      'steward contains code of these packages.\n\n---\n\n@a/b 1.2.3-rc.1 (MIT)\n\nText 1.0 (x)\n\nyaml 2.8.1 (ISC)\n';
    expect(audit.shippedIn(text)).to.deep.equal(['@a/b 1.2.3-rc.1', 'yaml 2.8.1']);
  });

  it('tells of a vulnerability in what is shipped, and of no other', () => {
    const one = (name: string, nodes: string[]) => ({
      [name]: {
        name,
        severity: 'high',
        nodes,
        via: [{ title: 'Breaks out', url: 'https://example.org/1' }, 'other'],
      },
    });
    const versions: Record<string, string> = {
      'node_modules/a': '1.0.0',
      'node_modules/x/node_modules/a': '0.9.0',
    };
    const judge = (found: Record<string, unknown>): string[] =>
      audit.shippedVulnerabilities(found, ['a 1.0.0', 'b 2.0.0'], (node) => versions[node] ?? '');
    expect(judge(one('a', Object.keys(versions)))).to.deep.equal([
      'a 1.0.0 (high): Breaks out https://example.org/1; by other',
    ]);
    expect(judge(one('a', ['node_modules/x/node_modules/a']))).to.deep.equal([]);
    expect(judge(one('tool', ['node_modules/tool']))).to.deep.equal([]);
  });

  it('is a step of the whole check', () => {
    expect(readFileSync(join(root, '.ci', 'run'), 'utf8')).to.include('npm run -s audit:shipped');
  });

  it('installs on Node.js 20.19 without a warning about its version', () => {
    const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { engines?: { node?: string } }>;
    };
    const fits = (range: string): boolean => {
      const [, operator, major, minor] = /^(>=|\^|)\s*(\d+|\*)(?:\.(\d+|\*))?/.exec(range.trim()) ?? [];
      if (major === '*') return true;
      const isNewer = Number(major) < 20 && operator === '>=';
      return isNewer || (Number(major) === 20 && !(Number(minor) > 19));
    };
    const tooNew = Object.entries(lock.packages).filter(
      ([, { engines }]) => !(engines?.node ?? '*').split('||').some(fits),
    );
    expect(tooNew.map(([name]) => name)).to.deep.equal([]);
  });
});
