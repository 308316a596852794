import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { createContext, runInContext, runInNewContext } from 'node:vm';
import { parseRegExpLiteral, type AST } from '@eslint-community/regexpp';
import * as ts from 'typescript';

const ROOT = join(__dirname, '..', '..');

/** A regular expression of the source, and where it stands: `src/lib/work/due.ts:71`. */
export interface Pattern {
  at: string;
  source: string;
  flags: string;
}

interface Parsed {
  path: string;
  tree: ts.SourceFile;
}

function sources(): Parsed[] {
  return ['src', 'templates'].flatMap((top) =>
    readdirSync(join(ROOT, top), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /(?<!\.d)\.[jt]s$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .map((file) => ({
        path: relative(ROOT, file).split(sep).join('/'),
        tree: ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true),
      })),
  );
}

function* nodes(node: ts.Node): Generator<ts.Node> {
  yield node;
  for (const child of node.getChildren()) yield* nodes(child);
}

function placeOf({ path, tree }: Parsed, node: ts.Node): string {
  return `${path}:${tree.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
}

/** Every literal of the syntax trees, and every place that makes a pattern while it runs. */
export function written(): { literals: Pattern[]; makers: string[] } {
  const literals: Pattern[] = [];
  const makers: string[] = [];
  for (const file of sources()) {
    for (const node of nodes(file.tree)) {
      if (ts.isRegularExpressionLiteral(node)) {
        const end = node.text.lastIndexOf('/');
        literals.push({
          at: placeOf(file, node),
          source: node.text.slice(1, end),
          flags: node.text.slice(end + 1),
        });
      }
      const isCall = ts.isNewExpression(node) || ts.isCallExpression(node);
      if (isCall && ts.isIdentifier(node.expression) && ['RegExp', 'rx'].includes(node.expression.text))
        makers.push(placeOf(file, node));
    }
  }
  return { literals, makers };
}

/** The number that a constant of a file has, such as the length that a text is cut to. */
export function constantOf(path: string, name: string): number {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const value = new RegExp(`^(?:export )?const ${name} = ([\\d_ *+]+);$`, 'm').exec(text)?.[1];
  if (value === undefined) throw new Error(`${path} has no constant ${name}`);
  return Number(runInNewContext(value));
}

/** The patterns that a process makes that routes, speaks and matches; `at` names every place on the way. */
export function made(): (Omit<Pattern, 'at'> & { at: string[] })[] {
  const child = join(__dirname, 'children', 'patterns.ts');
  const output = execFileSync(process.execPath, ['--enable-source-maps', '--import', 'tsx', child], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return JSON.parse(output) as ReturnType<typeof made>;
}

const ALPHABET = [...'a0 -_.:/\n\t"\'#*\\<>()[]{}=,;!?@+~`|&%$^AZ\r\u00e9\u2028\u4e00'];

/**
 * Texts of a length that are hard for a pattern: each of its repetitions pumped with characters that it takes, behind
 * what it begins with and in front of what it does not end with; near misses, over and over; and runs of blanks.
 */
export function* hardTexts({ source, flags }: Omit<Pattern, 'at'>, length: number): Generator<string> {
  const fill = (part: string): string => part.repeat(Math.ceil(length / part.length)).slice(0, length);
  for (const part of [' ', '\n', '\t ', 'a', '0', 'a ', 'é']) yield fill(part);
  const tree = parseRegExpLiteral(`/${source}/${flags}`).pattern;
  const seen = new Set<string>();
  for (const { before, pumped, whole } of repetitions(tree, flags)) {
    const nearMiss = whole.slice(0, -1);
    for (const pump of pumped) {
      const units = [
        pump,
        before + pump,
        before + pump.repeat(9),
        before + pump.repeat(9) + nearMiss,
        nearMiss,
      ];
      for (const unit of units) {
        if (unit === '' || seen.has(unit)) continue;
        seen.add(unit);
        yield `${fill(unit)}\u0000`;
        yield `${before}${fill(unit)}\u0000`;
      }
    }
  }
}

const MOST_PUMPS = 3;
const MOST_REPETITIONS = 12;

/** What stands before each repetition, what it may take, and an example of the whole. */
function repetitions(
  tree: AST.Pattern,
  flags: string,
): { before: string; pumped: string[]; whole: string }[] {
  const found: { before: string; pumped: string[]; whole: string }[] = [];
  const own = [...tree.raw].filter((char) => /[^\\()[\]{}?*+|^$]/.test(char));
  const alphabet = [...new Set([...ALPHABET, ...own])];
  const oneOf = (node: AST.Node, most: number): string[] => {
    const test = new RegExp(`^(?:${node.raw})$`, flags.replace(/[gy]/g, ''));
    return alphabet.filter((char) => test.test(char)).slice(0, most);
  };
  const walk = (node: AST.Node, before: string): string => {
    switch (node.type) {
      case 'Pattern':
        return node.alternatives.map((one) => walk(one, before))[0] ?? '';
      case 'Group':
      case 'CapturingGroup':
        return node.alternatives.map((one) => walk(one, before))[0] ?? '';
      case 'Alternative':
        return node.elements.reduce((text, one) => text + walk(one, before + text), '');
      case 'Character':
        return String.fromCodePoint(node.value);
      case 'CharacterClass':
      case 'CharacterSet':
      case 'ExpressionCharacterClass':
        return oneOf(node, 1)[0] ?? '';
      case 'Quantifier': {
        const sample = walk(node.element, before);
        const isSingle = node.element.type !== 'Group' && node.element.type !== 'CapturingGroup';
        if (node.max >= 9)
          found.push({ before, pumped: isSingle ? oneOf(node.element, MOST_PUMPS) : [sample], whole: '' });
        return node.max === 0 ? '' : sample.repeat(Math.max(1, Math.min(node.min, 3)));
      }
      case 'Assertion':
        if ('alternatives' in node) node.alternatives.forEach((one) => walk(one, before));
        return '';
      default:
        return '';
    }
  };
  const whole = walk(tree, '');
  if (found.length === 0) found.push({ before: '', pumped: [], whole });
  return found.slice(0, MOST_REPETITIONS).map((one) => ({ ...one, whole }));
}

const TRIES = 6;
const GIVE_UP_MS = 500;
const PLACE = createContext({});

/**
 * How long a pattern takes for a text, from its first match to its last: the best of some tries, in ms of the
 * processor, which other processes do not lengthen.
 */
export function msFor({ source, flags }: Omit<Pattern, 'at'>, text: string, enoughMs: number): number {
  const pattern = new RegExp(source, [...new Set(`${flags.replace('y', '')}g`)].join(''));
  Object.assign(PLACE, { text, pattern });
  let best = Infinity;
  for (let tried = 0; tried < TRIES && best > enoughMs; tried += 1) {
    const before = process.cpuUsage();
    try {
      // Nothing else stops a pattern that does not come to an end.
      runInContext('text.replace(pattern, "")', PLACE, { timeout: GIVE_UP_MS });
    } catch {
      continue;
    }
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1000);
  }
  return best;
}
