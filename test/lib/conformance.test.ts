import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';

const TEST = resolve(__dirname, '..');
const PAGE = readFileSync(resolve(TEST, '..', 'docs', 'conformance.md'), 'utf8');

interface Row {
  statement: string;
  cell: string;
  /** A test file, relative to test/, and the beginning of a title in it. */
  tests: { file: string; title: string }[];
}

interface Source {
  text: string;
  /** The titles of its `it` and `describe`; `isOpen` when more follows that is known only while the tests run. */
  titles: { text: string; isOpen: boolean }[];
}

describe('docs/conformance.md', () => {
  const rows = rowsOf(PAGE);
  const sources = new Map<string, Source>();

  it('has a row for each statement, and each once', () => {
    expect(rows.length).to.be.above(200);
    const statements = rows.map(({ statement }) => statement);
    expect(statements.filter((text, at) => text === '' || statements.indexOf(text) !== at)).to.deep.equal([]);
  });

  it('names a test in every row, and nothing else', () => {
    const wrong = rows.filter(
      ({ cell, tests }) => tests.length === 0 || !/^(?:`[^`"]+`(?:,? "[^"]+")+(?:, |$))+$/.test(cell),
    );
    expect(wrong.map(({ statement, cell }) => `${statement} → ${cell}`)).to.deep.equal([]);
  });

  it('names only tests that are there', () => {
    const missing = rows.flatMap(({ statement, tests }) =>
      tests.filter((test) => !isThere(test)).map(({ file, title }) => `${statement} → ${file} "${title}"`),
    );
    expect(missing).to.deep.equal([]);
  });

  it('would notice a title that is gone', () => {
    const file = 'lib/conformance.test.ts';
    expect(isThere({ file, title: 'would notice' })).to.equal(true);
    expect(isThere({ file, title: 'notice a title' })).to.equal(false);
    expect(isThere({ file: 'lib/gone.test.ts', title: 'would notice' })).to.equal(false);
    expect(isThere({ file: 'lib/agents/check.test.ts', title: 'names a retired type' })).to.equal(true);
  });

  function isThere({ file, title }: Row['tests'][number]): boolean {
    const source = sources.get(file) ?? sourceOf(file);
    sources.set(file, source);
    return source.titles.some(({ text, isOpen }) => {
      if (!isOpen || text === '' || !title.startsWith(text)) return text.startsWith(title);
      // What is filled in stands in the file as well.
      return source.text.includes(title.slice(text.length));
    });
  }
});

function rowsOf(page: string): Row[] {
  return page.split('\n').flatMap((line) => {
    const [, statement = '', cell = ''] = /^\| (.*?) \| (.*) \|$/.exec(line) ?? [];
    if (!line.startsWith('|') || /^(?:Statement|---)$/.test(statement)) return [];
    let file = '';
    const tests = [...cell.matchAll(/`([^`]+)`|"([^"]+)"/g)].flatMap(([, named, title]) => {
      file = named ?? file;
      return title === undefined ? [] : [{ file, title }];
    });
    return [{ statement, cell, tests }];
  });
}

/** A test file with its titles, from its syntax tree; without any if it does not exist. */
function sourceOf(file: string): Source {
  const path = join(TEST, file);
  if (!existsSync(path)) return { text: '', titles: [] };
  const text = readFileSync(path, 'utf8');
  const titles: Source['titles'] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && /^(?:it|describe)$/.test(node.expression.getText())) {
      const [title] = node.arguments;
      if (title !== undefined && ts.isStringLiteralLike(title))
        titles.push({ text: title.text, isOpen: false });
      if (title !== undefined && ts.isTemplateExpression(title))
        titles.push({ text: title.head.text, isOpen: true });
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  return { text, titles };
}
