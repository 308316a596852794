import { parseJsonTree, type TextProblem } from '../platform/files/json-tree';

export type { TextProblem };
export { placeOf } from '../platform/files/json-tree';

export type Parsed = { value: unknown } | { problem: TextProblem };

/**
 * Parses JSON strictly: as JSON.parse, and a key that stands twice is a problem too. Messages never quote
 * the text, which may hold secrets.
 */
export function parseJson(source: string): Parsed {
  const tree = parseJsonTree(source);
  const problem = 'problem' in tree ? tree.problem : tree.duplicate;
  if (problem !== undefined) return { problem };
  return { value: JSON.parse(source.startsWith('\ufeff') ? source.slice(1) : source) as unknown };
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
