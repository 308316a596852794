import { parseTree, printParseErrorCode, type Node, type ParseError } from 'jsonc-parser';

/** A syntax error. Lines and columns start at 1. */
export interface TextProblem {
  line: number;
  column: number;
  message: string;
}

/** A JSON value with its position. `source.slice(start, end)` is the text of the value. */
export interface JsonNode {
  kind: 'object' | 'array' | 'scalar';
  start: number;
  end: number;
  /** The items of an array. */
  items: JsonNode[];
  /** The members of an object in source order. If a key occurs twice, the last one wins. */
  members: { key: string; keyStart: number; value: JsonNode }[];
}

type ParsedTree =
  /** `duplicate` is the first duplicate key in an object. JSON.parse would accept duplicate keys. */
  { root: JsonNode; duplicate: TextProblem | undefined } | { problem: TextProblem };

/** Limits the depth of recursion. Real files have only a few levels of nesting. */
const MAX_DEPTH = 64;

/**
 * Parses JSON and records the position of every value. Also accepts a byte order mark and, if `comments` is
 * set, comments. Error messages don't quote the text, because it may contain secrets.
 */
export function parseJsonTree(source: string, { comments = false } = {}): ParsedTree {
  const problemAt = (offset: number, message: string): TextProblem => ({
    ...placeOf(source, offset),
    message,
  });
  const deep = tooDeepAt(source, MAX_DEPTH, JSON_TOKENS);
  if (deep !== undefined) return { problem: problemAt(deep, `more than ${MAX_DEPTH} levels deep`) };
  const errors: ParseError[] = [];
  // Replaces the byte order mark by a space, so that offsets don't change.
  const root = parseTree(source.replace(/^\ufeff/, ' '), errors, { disallowComments: !comments });
  const [error] = errors;
  if (error !== undefined) return { problem: problemAt(error.offset, wordsOf(error)) };
  if (root === undefined) return { problem: problemAt(source.length, 'value expected') };
  const duplicate = duplicateKeyIn(root);
  return {
    root: nodeOf(root),
    duplicate: duplicate && problemAt(duplicate.offset, 'duplicate key'),
  };
}

/** Returns the line and column of an offset, both starting at 1. */
export function placeOf(source: string, offset: number): { line: number; column: number } {
  const before = source.slice(0, offset);
  const breaks = before.split('\n');
  return { line: breaks.length, column: (breaks[breaks.length - 1] ?? '').length + 1 };
}

/** Returns the index of the first bracket that is nested too deep for a recursive parser, or undefined. */
export function tooDeepAt(source: string, max: number, tokens = /[[\]{}]/g): number | undefined {
  let depth = 0;
  for (const { 0: token, index } of source.matchAll(tokens)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth = Math.max(0, depth - 1);
    if (depth > max) return index;
  }
  return undefined;
}

/** Brackets, and strings, whose brackets don't count. */
const JSON_TOKENS = /"(?:[^"\\]|\\.)*"?|[[\]{}]/gs;

/** Turns the library's name of an error, such as `CommaExpected`, into words. */
function wordsOf({ error }: ParseError): string {
  return printParseErrorCode(error)
    .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .trim();
}

function duplicateKeyIn({ type, children = [] }: Node): Node | undefined {
  const keys = type === 'object' ? children.map(({ children: [key] = [] }) => key) : [];
  const seen = new Set<unknown>();
  const duplicate = keys.find((key) => seen.size === seen.add(key?.value).size);
  if (duplicate !== undefined) return duplicate;
  for (const child of children) {
    const found = duplicateKeyIn(child);
    if (found !== undefined) return found;
  }
  return undefined;
}

function nodeOf({ type, offset, length, children = [] }: Node): JsonNode {
  const node: JsonNode = { kind: 'scalar', start: offset, end: offset + length, items: [], members: [] };
  if (type === 'array') return { ...node, kind: 'array', items: children.map(nodeOf) };
  if (type !== 'object') return node;
  const members = children.map(({ children: [key, value] = [] }) => ({
    key: String(key?.value),
    keyStart: key?.offset ?? 0,
    value: nodeOf(value as Node),
  }));
  return { ...node, kind: 'object', members };
}
