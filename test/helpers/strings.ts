import { readFileSync, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import * as ts from 'typescript';

import bannedTerms from '../lib/language.json';

const ROOT = join(__dirname, '..', '..');

/** A text that a person may see, or a comment, and its place: `src/lib/work/due.ts:71`. */
export interface Text {
  at: string;
  text: string;
}

interface Source {
  path: string;
  tree: ts.SourceFile;
}

/** The modules below some folders of the repository, parsed. */
export function modules(...folders: string[]): Source[] {
  return folders.flatMap((folder) =>
    filesUnder(folder)
      .filter((path) => /(?<!\.d)\.[jt]s$/.test(path))
      .map((path) => ({
        path,
        tree: ts.createSourceFile(
          path,
          readFileSync(join(ROOT, path), 'utf8'),
          ts.ScriptTarget.Latest,
          true,
          path.endsWith('.js') ? ts.ScriptKind.JS : ts.ScriptKind.TS,
        ),
      })),
  );
}

function filesUnder(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
}

/** Every string of these modules that reads as words; an expression in a template shows as `{expression}`. */
export function stringsOf(sources: readonly Source[]): Text[] {
  return sources.flatMap((source) => {
    const found: Text[] = [];
    const visit = (node: ts.Node): void => {
      if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isTypeNode(node)) return;
      const text = textOf(node);
      if (text === undefined) {
        ts.forEachChild(node, visit);
        return;
      }
      if (isWords(node, text)) found.push({ at: placeOf(source, node), text });
      for (const part of expressionsOf(node)) visit(part);
    };
    visit(source.tree);
    return found;
  });
}

/** Every comment of these modules, neighbouring lines as one. */
export function commentsOf(sources: readonly Source[]): Text[] {
  return sources.flatMap(({ path, tree }) => {
    const lines = tree.text.split('\n');
    const found: Text[] = [];
    let open = false;
    for (const [index, line] of lines.entries()) {
      const match = /^\s*(?:\/\/|\/?\*\*?\/?)\s?(.*?)(?:\*\/)?$/.exec(line);
      const text = match?.[1]?.trim() ?? '';
      const last = found.at(-1);
      if (match === null) open = false;
      else if (open && last !== undefined) last.text = `${last.text} ${text}`.trim();
      else found.push({ at: `${path}:${index + 1}`, text });
      if (match !== null) open = true;
    }
    return found.filter(({ text }) => /[a-z]/i.test(text));
  });
}

/** Pages and templates line by line, without fenced blocks, links and code. */
export function proseOf(paths: readonly string[]): Text[] {
  return paths.flatMap((path) =>
    readFileSync(join(ROOT, path), 'utf8')
      .replace(/^(```[^\n]*\n)([\s\S]*?)(^```)/gm, (_, open: string, body: string, close: string) =>
        [open, body.replace(/[^\n]/g, ''), close].join(''),
      )
      .split('\n')
      .map((line, index) => ({ at: `${path}:${index + 1}`, text: line.replace(/`[^`]*`/g, '`…`').trim() }))
      .filter(({ text }) => /[a-z]/i.test(text)),
  );
}

/** The text files among the templates that are no modules. */
export function templateTexts(): string[] {
  return filesUnder('templates').filter((path) => !/\.(?:js|json|css)$/.test(path));
}

function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node))
    return node.templateSpans.reduce(
      (text, span) => `${text}{${span.expression.getText()}}${span.literal.text}`,
      node.head.text,
    );
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const [left, right] = [textOf(node.left), textOf(node.right)];
    return left === undefined || right === undefined ? undefined : left + right;
  }
  return undefined;
}

function expressionsOf(node: ts.Node): ts.Node[] {
  if (ts.isTemplateExpression(node)) return node.templateSpans.map(({ expression }) => expression);
  if (ts.isBinaryExpression(node)) return [...expressionsOf(node.left), ...expressionsOf(node.right)];
  return [];
}

const SHOWN = /^(?:summary|description|hint|title|label|message|detail|question|helpValue|unit|name)$/;

/** Two words beside each other, or one that a property shows to a person. */
function isWords(node: ts.Node, text: string): boolean {
  if (/[\p{L}}] +[\p{L}{]/u.test(text)) return /\p{L}/u.test(text.replace(/\{[^}]*\}/g, ''));
  const { parent } = node;
  return ts.isPropertyAssignment(parent) && SHOWN.test(parent.name.getText()) && /\p{L}{3}/u.test(text);
}

function placeOf({ path, tree }: Source, node: ts.Node): string {
  return `${path}:${tree.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
}

interface Term {
  /** A pattern; a small letter stands for both cases. */
  term: string;
  say: string;
  why: string;
  /** Allowed in comments. */
  where?: string;
}

/** A text that uses a banned term. */
export interface Fault {
  kind: 'strings' | 'comments';
  room: string;
  words: string;
}

/** The uses of banned terms in strings, templates, pages and comments. */
export function languageFaults(): Fault[] {
  const sources = modules('src', 'templates');
  const pages = [
    'README.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    ...filesUnder('docs'),
  ].filter(
    // It explains the words of the original system.
    (path) => path.endsWith('.md') && !path.includes('origins'),
  );
  const prose = proseOf([...templateTexts(), ...pages]);
  return [
    ...faultsIn('strings', [...stringsOf(sources), ...prose]),
    ...faultsIn('comments', commentsOf(sources)),
  ];
}

function faultsIn(kind: Fault['kind'], texts: readonly Text[]): Fault[] {
  const terms = (bannedTerms as Term[])
    .filter(({ where }) => where === undefined || where === kind)
    .map((term) => ({ ...term, pattern: new RegExp(term.term, /[A-Z]/.test(term.term) ? 'u' : 'iu') }));
  return texts.flatMap(({ at, text }) => {
    const plain = text.replace(/\{[^}]*\}+/g, '{}');
    if (plain.includes('(?')) return [];
    return terms.flatMap(({ pattern, say, why }) => {
      const found = pattern.exec(plain);
      if (found === null) return [];
      const around = plain.slice(Math.max(0, found.index - 50), found.index + 70);
      return [{ kind, room: roomOf(at), words: `${at}: "${found[0]}" in "${around}": ${why}; say "${say}"` }];
    });
  });
}

/** The folder that a file's owner looks after; a page is a room of its own. */
export function roomOf(at: string): string {
  const path = at.replace(/:\d+$/, '');
  return (
    /^(?:src\/(?:lib|commands)\/[^/]+(?=\/)|templates\/[^/]+(?=\/)|src\/(?:lib|commands)|src|templates)/.exec(
      path,
    )?.[0] ?? path
  );
}

/** Two lines of 80 columns. */
const MAX_ERROR_LENGTH = 160;

/** Errors in the source without a hint or a full stop, in the first person, or too long for two lines. */
export function errorFaults(): { room: string; words: string }[] {
  return modules('src').flatMap((source) => {
    const found: { room: string; words: string }[] = [];
    const visit = (node: ts.Node): void => {
      if (ts.isNewExpression(node) && node.expression.getText() === 'StewardError') {
        const at = placeOf(source, node);
        for (const fault of faultsOfError(node)) found.push({ room: roomOf(at), words: `${at}: ${fault}` });
      }
      ts.forEachChild(node, visit);
    };
    visit(source.tree);
    return found;
  });
}

function faultsOfError({
  arguments: given = [] as unknown as ts.NodeArray<ts.Expression>,
}: ts.NewExpression): string[] {
  const [kind, message, detail] = given;
  const text = message === undefined ? undefined : textOf(message);
  const faults = text === undefined ? [] : faultsOfSentence('message', text);
  if (detail === undefined || !ts.isObjectLiteralExpression(detail)) {
    // An interrupted command and a fault in steward leave nothing to advise.
    const needsHint = kind !== undefined && !/'(?:internal|canceled)'/.test(kind.getText());
    return detail === undefined && needsHint ? [...faults, 'no hint'] : faults;
  }
  for (const property of detail.properties) {
    if (!ts.isPropertyAssignment(property) || property.name.getText() !== 'hint') continue;
    const hint = textOf(property.initializer);
    if (hint !== undefined) faults.push(...faultsOfSentence('hint', hint));
  }
  return faults;
}

function faultsOfSentence(part: string, text: string): string[] {
  const plain = text.replace(/\{[^}]*\}+/g, 'some value');
  return [
    // A hint may end with a command to copy.
    ...(/(?:[.?!…]|some value)["`'0)]*$|: \S.*$|\n/.test(plain)
      ? []
      : [`the ${part} has no full stop: ${text}`]),
    ...(/\b(?:I|[Ww]e|[Oo]urs?|us|[Mm]y)\b(?!\/|-)/.test(plain)
      ? [`the ${part} is in the first person: ${text}`]
      : []),
    ...(plain.length > MAX_ERROR_LENGTH ? [`the ${part} is longer than two lines: ${text}`] : []),
  ];
}
