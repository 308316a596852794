/** A syntax error. Lines and columns start at 1. */
export interface TextProblem {
  line: number;
  column: number;
  message: string;
}

/** A JSON value with its position. `source.slice(start, end)` is the text of the value. */
export type JsonNode = JsonObject | JsonArray | JsonScalar;

export interface JsonObject {
  kind: 'object';
  start: number;
  end: number;
  /** Members in source order. If a key occurs twice, the last one wins. */
  members: JsonMember[];
}

interface JsonMember {
  key: string;
  keyStart: number;
  value: JsonNode;
}

export interface JsonArray {
  kind: 'array';
  start: number;
  end: number;
  items: JsonNode[];
}

interface JsonScalar {
  kind: 'scalar';
  start: number;
  end: number;
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
  const at = source.startsWith('\ufeff') ? 1 : 0;
  const cursor: Cursor = { source, at, comments, duplicateAt: undefined };
  try {
    const root = scanValue(cursor, 0);
    skipSpace(cursor);
    if (cursor.at < source.length) throw new Fault(cursor.at, 'unexpected text after the end');
    const { duplicateAt } = cursor;
    return {
      root,
      duplicate:
        duplicateAt === undefined ? undefined : { ...placeOf(source, duplicateAt), message: 'duplicate key' },
    };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { problem: { ...placeOf(source, error.offset), message: error.message } };
  }
}

/** Returns the line and column of an offset, both starting at 1. */
export function placeOf(source: string, offset: number): { line: number; column: number } {
  const before = source.slice(0, offset);
  const breaks = before.split('\n');
  return { line: breaks.length, column: (breaks[breaks.length - 1] ?? '').length + 1 };
}

/** Thrown at any depth of nesting to stop parsing, and caught in this file. */
class Fault extends Error {
  constructor(
    readonly offset: number,
    message: string,
  ) {
    super(message);
  }
}

interface Cursor {
  source: string;
  at: number;
  comments: boolean;
  duplicateAt: number | undefined;
}

function scanValue(cursor: Cursor, depth: number): JsonNode {
  skipSpace(cursor);
  const start = cursor.at;
  const char = cursor.source[start];
  if (char === undefined) throw new Fault(start, 'unexpected end of input');
  if (char === '{' || char === '[') {
    if (depth >= MAX_DEPTH) throw new Fault(start, `more than ${MAX_DEPTH} levels deep`);
    return char === '{' ? scanObject(cursor, depth) : scanArray(cursor, depth);
  }
  if (char === '"') scanString(cursor);
  else if (!take(cursor, SCALAR)) throw new Fault(start, 'expected a value');
  return { kind: 'scalar', start, end: cursor.at };
}

function scanObject(cursor: Cursor, depth: number): JsonObject {
  const start = cursor.at;
  const members: JsonMember[] = [];
  const keys = new Set<string>();
  cursor.at += 1;
  skipSpace(cursor);
  if (takeChar(cursor, '}')) return { kind: 'object', start, end: cursor.at, members };
  for (;;) {
    skipSpace(cursor);
    const keyStart = cursor.at;
    if (cursor.source[keyStart] !== '"') throw new Fault(keyStart, 'expected a key in double quotes');
    scanString(cursor);
    const key = JSON.parse(cursor.source.slice(keyStart, cursor.at)) as string;
    if (keys.has(key)) cursor.duplicateAt ??= keyStart;
    keys.add(key);
    skipSpace(cursor);
    if (!takeChar(cursor, ':')) throw new Fault(cursor.at, 'expected a colon');
    members.push({ key, keyStart, value: scanValue(cursor, depth + 1) });
    skipSpace(cursor);
    if (takeChar(cursor, '}')) return { kind: 'object', start, end: cursor.at, members };
    if (!takeChar(cursor, ',')) throw new Fault(cursor.at, 'expected a comma or a closing brace');
  }
}

function scanArray(cursor: Cursor, depth: number): JsonArray {
  const start = cursor.at;
  const items: JsonNode[] = [];
  cursor.at += 1;
  skipSpace(cursor);
  if (takeChar(cursor, ']')) return { kind: 'array', start, end: cursor.at, items };
  for (;;) {
    items.push(scanValue(cursor, depth + 1));
    skipSpace(cursor);
    if (takeChar(cursor, ']')) return { kind: 'array', start, end: cursor.at, items };
    if (!takeChar(cursor, ',')) throw new Fault(cursor.at, 'expected a comma or a closing bracket');
  }
}

function scanString(cursor: Cursor): void {
  cursor.at += 1;
  for (;;) {
    take(cursor, PLAIN);
    if (takeChar(cursor, '"')) return;
    if (take(cursor, ESCAPE)) continue;
    const isEscape = cursor.source[cursor.at] === '\\';
    throw new Fault(cursor.at, isEscape ? 'unknown escape sequence' : 'missing closing quote');
  }
}

const SCALAR = /(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![A-Za-z0-9_.+-])/y;
const PLAIN = /[^"\\\u0000-\u001f]+/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const SPACE = /[ \t\n\r]+/y;
const LINE_COMMENT = /\/\/[^\n]*/y;

function take(cursor: Cursor, pattern: RegExp): boolean {
  pattern.lastIndex = cursor.at;
  if (!pattern.test(cursor.source)) return false;
  cursor.at = pattern.lastIndex;
  return true;
}

function takeChar(cursor: Cursor, char: string): boolean {
  if (cursor.source[cursor.at] !== char) return false;
  cursor.at += 1;
  return true;
}

function skipSpace(cursor: Cursor): void {
  take(cursor, SPACE);
  while (cursor.comments && (take(cursor, LINE_COMMENT) || takeBlockComment(cursor))) take(cursor, SPACE);
}

function takeBlockComment(cursor: Cursor): boolean {
  const end = cursor.source.startsWith('/*', cursor.at) ? cursor.source.indexOf('*/', cursor.at + 2) : -1;
  if (end !== -1) cursor.at = end + 2;
  return end !== -1;
}
