// Writes docs/conformance.md from test/promises.json: each promise, and the title and file of its first test. Throws if
// a test that is named there is gone.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

import { ROOT } from './bundle.mjs';

const TEST = join(ROOT, 'test');
const SHOWN_WORDS = 8;

const INTRODUCTION = `# What steward promises, and the tests

<!-- Written by "npm run docs" from test/promises.json and the titles of the tests; do not edit. -->

\`npx mocha test/FILE.test.ts\` runs a test. \`test/promises.json\` names the further tests of a promise; [origins](origins.md) says what was changed on purpose.
`;

/** The promises by area: \`{statement, tests: {FILE: [the beginning of a title]}}\`. */
export function readPromises() {
  return JSON.parse(readFileSync(join(TEST, 'promises.json'), 'utf8'));
}

export function conformancePage(promises = readPromises()) {
  const titleIn = titleReader();
  const sections = Object.entries(promises).map(([area, rows]) => {
    const lines = rows.map(({ statement, tests }) => {
      const found = Object.entries(tests).flatMap(([file, titles]) =>
        titles.map((title) => ({ file, title: titleIn(file, title) })),
      );
      const [first] = found;
      if (first === undefined) throw new Error(`No test for "${statement}".`);
      return `|${cell(statement)}|${cell(shortened(first.title))}|${first.file.replace(/\.test\.ts$/, '')}|`;
    });
    return `## ${area}\n\n|statement|title|test|\n|---|---|---|\n${lines.join('\n')}\n`;
  });
  return `${INTRODUCTION}\n${sections.join('\n')}`;
}

function shortened(title) {
  const words = title.split(' ');
  return words.length <= SHOWN_WORDS ? title : `${words.slice(0, SHOWN_WORDS).join(' ')} …`;
}

function cell(text) {
  return text.replaceAll('|', '\\|');
}

/** Finds the whole title that begins so. A title that is completed while the tests run is known only as it is named. */
function titleReader() {
  const sources = new Map();
  return (file, start) => {
    const source = sources.get(file) ?? sourceOf(file);
    sources.set(file, source);
    for (const { text, isOpen } of source.titles) {
      if (text.startsWith(start)) return text;
      // What is filled in stands in the file as well.
      const isFilled = isOpen && text !== '' && start.startsWith(text);
      if (isFilled && source.text.includes(start.slice(text.length))) return start;
    }
    throw new Error(`test/promises.json names a test that is gone: ${file} "${start}".`);
  };
}

/** A test file with its titles, from its syntax tree; without any if it does not exist. */
function sourceOf(file) {
  const path = join(TEST, file);
  if (!existsSync(path)) return { text: '', titles: [] };
  const text = readFileSync(path, 'utf8');
  const titles = [];
  const visit = (node) => {
    if (ts.isCallExpression(node) && /^(?:it|long|describe)$/.test(node.expression.getText())) {
      const [title] = node.arguments;
      if (title && ts.isStringLiteralLike(title)) titles.push({ text: title.text, isOpen: false });
      if (title && ts.isTemplateExpression(title)) titles.push({ text: title.head.text, isOpen: true });
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  return { text, titles };
}
