import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { long } from '../helpers/long';

/** The promises by area, each with its test files and the beginnings of their titles. */
type Promises = Record<string, { statement: string; tests: Record<string, string[]> }[]>;

interface Script {
  readPromises: () => Promises;
  conformancePage: (promises?: Promises) => string;
}

const ROOT = resolve(__dirname, '..', '..');

describe('docs/conformance.md', () => {
  let script: Script;
  const pageOf = (statement: string, tests: Record<string, string[]>): string =>
    script.conformancePage({ Area: [{ statement, tests }] });

  before(async () => {
    script = (await import(pathToFileURL(join(ROOT, 'scripts', 'conformance.mjs')).href)) as Script;
  });

  long('is what the promises and the titles of the tests make it', () => {
    const page = readFileSync(join(ROOT, 'docs', 'conformance.md'), 'utf8');
    expect(script.conformancePage(), 'stale: run "npm run docs"').to.equal(page);
  });

  it('has each statement once', () => {
    const statements = Object.values(script.readPromises()).flatMap((rows) =>
      rows.map(({ statement }) => statement),
    );
    expect(statements).to.have.length.above(150);
    expect(statements.filter((text, at) => text === '' || statements.indexOf(text) !== at)).to.deep.equal([]);
  });

  it('shows the whole title of a test', () => {
    const page = pageOf('A title', { 'lib/conformance.test.ts': ['shows the whole'] });
    expect(page).to.include('|A title|shows the whole title of a test|lib/conformance|');
  });

  it('is not made if a promise has no test, or one that is gone', () => {
    const file = 'lib/conformance.test.ts';
    for (const [tests, fault] of [
      [{}, 'No test'],
      [{ 'lib/gone.test.ts': ['shows'] }, 'gone'],
      [{ [file]: ['the whole title'] }, 'gone'],
    ] as [Record<string, string[]>, string][])
      expect(() => pageOf('A title', tests)).to.throw(fault);
  });

  it('takes a title that is completed while the tests run', () => {
    const page = pageOf('A type', { 'lib/agents/check.test.ts': ['names a retired type'] });
    expect(page).to.include('|names a retired type|');
  });
});
