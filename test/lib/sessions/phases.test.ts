import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

import { phase, phaseNamed, PHASES, tabTitle } from '../../../src/lib/sessions/phases';
import { long } from '../../helpers/long';

const ROOT = join(__dirname, '..', '..', '..');

/** The lists of a source that name three phases or more: arrays, unions of types, keys of an object. */
function phaseLists(path: string): string[] {
  const text = readFileSync(join(ROOT, path), 'utf8');
  if (PHASES.filter(({ id }) => text.includes(id)).length < 3) return [];
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const isList =
      ts.isArrayLiteralExpression(node) || ts.isUnionTypeNode(node) || ts.isObjectLiteralExpression(node);
    const words = isList ? node.getChildren().flatMap((child) => child.getChildren().map(nameOf)) : [];
    const phases = new Set(words.filter((word) => phaseNamed(word)?.id === word));
    if (phases.size >= 3) found.push(`${path}: ${[...phases].join(', ')}`);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function nameOf(node: ts.Node): string {
  if (ts.isPropertyAssignment(node)) return node.name.getText().replace(/['"]/g, '');
  const literal = ts.isLiteralTypeNode(node) ? node.literal : node;
  return ts.isStringLiteralLike(literal) ? literal.text : '';
}

describe('the phase table', () => {
  it('has each phase once, by any of its spellings', () => {
    const names = PHASES.flatMap(({ id, retired }) => [id, ...retired]);
    expect(new Set(names).size).to.equal(names.length);
    expect(PHASES.map(({ id }) => id)).to.have.members(
      'starting observe think plan build execute verify learn complete native'.split(' '),
    );
  });

  long('is the only list of phases', () => {
    const files = ['src', join('templates', 'dashboard')].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.(?:ts|js)$/.test(name))
        .map((name) => join(folder, name)),
    );
    const table = join('src', 'lib', 'sessions', 'phases.ts');
    expect(phaseLists(table)).to.have.length.above(0);
    expect(files.filter((path) => path !== table).flatMap(phaseLists)).to.deep.equal([]);
  });

  it('reads retired spellings and upper case', () => {
    expect(phaseNamed('OBSERVE')?.id).to.equal('observe');
    expect(phaseNamed(' Scoping ')?.id).to.equal('think');
    expect(phaseNamed('climbing')?.id).to.equal('execute');
    expect(phaseNamed('toString')).to.equal(undefined);
    expect(phaseNamed('')).to.equal(undefined);
  });

  it('maps phases to Status labels and says which are synced', () => {
    const status = Object.fromEntries(PHASES.map(({ id, status: label }) => [id, label]));
    expect(status).to.include({
      execute: 'in-progress',
      verify: 'in-review',
      learn: 'in-review',
      complete: 'done',
    });
    expect(status).to.include({ native: 'queued', build: 'queued', starting: 'queued' });
    expect(PHASES.filter(({ synced }) => synced).map(({ id }) => id)).to.deep.equal([
      'execute',
      'verify',
      'learn',
      'complete',
    ]);
  });

  it('gives titles without a control', () => {
    for (const { id } of PHASES) expect(tabTitle(id)).to.match(/^\S \w+$/u);
    expect(phase('learn').label).to.equal('Learn');
  });
});
