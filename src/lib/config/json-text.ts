/** What is wrong with a text, and where: line and column count from 1. */
export interface TextProblem {
  line: number;
  column: number;
  message: string;
}

export type Parsed = { value: unknown } | { problem: TextProblem };

/** Configuration nests a few levels; far deeper is an accident or an attack. */
const MAX_DEPTH = 64;

/**
 * Parses JSON strictly: as JSON.parse, and a key that stands twice is a problem too. Messages never quote
 * the text, which may hold secrets.
 */
export function parseJson(source: string): Parsed {
  const start = source.startsWith('\ufeff') ? 1 : 0;
  const fault = scan(source, start);
  if (fault !== undefined) return { problem: { ...placeOf(source, fault.offset), message: fault.message } };
  return { value: JSON.parse(source.slice(start)) as unknown };
}

/** The line and the column of an offset, both from 1. */
export function placeOf(source: string, offset: number): { line: number; column: number } {
  const before = source.slice(0, offset);
  const breaks = before.split('\n');
  return { line: breaks.length, column: (breaks[breaks.length - 1] ?? '').length + 1 };
}

interface Fault {
  offset: number;
  message: string;
}

interface Cursor {
  source: string;
  at: number;
}

function scan(source: string, start: number): Fault | undefined {
  const cursor = { source, at: start };
  const fault = scanValue(cursor, 0);
  if (fault !== undefined) return fault;
  skipSpace(cursor);
  return cursor.at < source.length ? faultAt(cursor, 'more text after the end of the value') : undefined;
}

function scanValue(cursor: Cursor, depth: number): Fault | undefined {
  skipSpace(cursor);
  const char = cursor.source[cursor.at];
  if (char === undefined) return faultAt(cursor, 'the text ends where a value is expected');
  if (char === '{' || char === '[') {
    if (depth >= MAX_DEPTH) return faultAt(cursor, `more than ${MAX_DEPTH} levels deep`);
    return char === '{' ? scanObject(cursor, depth) : scanArray(cursor, depth);
  }
  if (char === '"') return scanString(cursor);
  return take(cursor, SCALAR) === undefined ? faultAt(cursor, 'a value is expected here') : undefined;
}

function scanObject(cursor: Cursor, depth: number): Fault | undefined {
  const keys = new Set<string>();
  cursor.at += 1;
  skipSpace(cursor);
  if (takeChar(cursor, '}')) return undefined;
  for (;;) {
    skipSpace(cursor);
    const keyAt = cursor.at;
    if (cursor.source[keyAt] !== '"') return faultAt(cursor, 'a key in double quotes is expected here');
    const inKey = scanString(cursor);
    if (inKey !== undefined) return inKey;
    const key = JSON.parse(cursor.source.slice(keyAt, cursor.at)) as string;
    if (keys.has(key)) return { offset: keyAt, message: 'this key stands twice' };
    keys.add(key);
    skipSpace(cursor);
    if (!takeChar(cursor, ':')) return faultAt(cursor, 'a colon is expected here');
    const inValue = scanValue(cursor, depth + 1);
    if (inValue !== undefined) return inValue;
    skipSpace(cursor);
    if (takeChar(cursor, '}')) return undefined;
    if (!takeChar(cursor, ',')) return faultAt(cursor, 'a comma or a closing brace is expected here');
  }
}

function scanArray(cursor: Cursor, depth: number): Fault | undefined {
  cursor.at += 1;
  skipSpace(cursor);
  if (takeChar(cursor, ']')) return undefined;
  for (;;) {
    const inValue = scanValue(cursor, depth + 1);
    if (inValue !== undefined) return inValue;
    skipSpace(cursor);
    if (takeChar(cursor, ']')) return undefined;
    if (!takeChar(cursor, ',')) return faultAt(cursor, 'a comma or a closing bracket is expected here');
  }
}

function scanString(cursor: Cursor): Fault | undefined {
  cursor.at += 1;
  for (;;) {
    take(cursor, PLAIN);
    if (takeChar(cursor, '"')) return undefined;
    if (take(cursor, ESCAPE) === undefined) {
      return faultAt(
        cursor,
        cursor.source[cursor.at] === '\\'
          ? 'this escape is unknown'
          : 'the closing quote of a text is missing',
      );
    }
  }
}

const SCALAR = /(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![A-Za-z0-9_.+-])/y;

const PLAIN = /[^"\\\u0000-\u001f]+/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const SPACE = /[ \t\n\r]+/y;

function take(cursor: Cursor, pattern: RegExp): string | undefined {
  pattern.lastIndex = cursor.at;
  const found = pattern.exec(cursor.source)?.[0];
  if (found !== undefined) cursor.at += found.length;
  return found;
}

function takeChar(cursor: Cursor, char: string): boolean {
  if (cursor.source[cursor.at] !== char) return false;
  cursor.at += 1;
  return true;
}

function skipSpace(cursor: Cursor): void {
  take(cursor, SPACE);
}

function faultAt(cursor: Cursor, message: string): Fault {
  return { offset: cursor.at, message };
}

/** The text with one value set, in the indentation, line breaks and end of the text as it was. */
export function setInJson(source: string | undefined, value: unknown): string {
  const indent = source === undefined ? '  ' : (/\n([ \t]+)"/.exec(source)?.[1] ?? '  ');
  const oneLine = source !== undefined && source.trim() !== '{}' && !source.trim().includes('\n');
  const written = JSON.stringify(value, null, oneLine ? undefined : indent);
  const broken = source?.includes('\r\n') === true ? written.replaceAll('\n', '\r\n') : written;
  const end = source === undefined ? '\n' : (/\r?\n?$/.exec(source)?.[0] ?? '');
  const mark = source?.startsWith('\ufeff') === true ? '\ufeff' : '';
  return mark + broken + end;
}
