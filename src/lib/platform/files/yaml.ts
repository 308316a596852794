import { parseJson } from './json-object';

// Parses front matter line by line, because the YAML library would take seconds for thousands of files.

/** Returns the lines between the two `---` lines, or undefined if the text has no front matter. */
export function frontMatter(text: string): string[] | undefined {
  const lines: string[] = [];
  let at = text.startsWith('\ufeff') ? 1 : 0;
  for (let isFirst = true; ; isFirst = false) {
    const feed = text.indexOf('\n', at);
    const line = feed === -1 ? text.slice(at) : text.slice(at, text[feed - 1] === '\r' ? feed - 1 : feed);
    if (isFirst) {
      if (line.trimEnd() !== '---') return undefined;
    } else if (/^(?:---|\.\.\.)\s*$/.test(line)) return lines;
    else lines.push(line);
    if (feed === -1) return undefined;
    at = feed + 1;
  }
}

/** Parses a plain or quoted value on a single line, and drops a trailing comment. */
export function scalar(raw: string): string {
  const text = raw.trim();
  const single = /^'((?:[^']|'')*)'/.exec(text)?.[1];
  if (single !== undefined) return single.replaceAll("''", "'");
  const double = /^"(?:[^"\\]|\\.)*"/.exec(text)?.[0];
  if (double !== undefined) return String(parseJson(double) ?? double.slice(1, -1));
  const plain = text.replace(/(?:^|(?<!\s)\s+)#.*$/, '');
  // Returns '' for multi-line strings, lists and objects, which aren't supported.
  return plain === 'null' || plain === '~' || /^[|>[{&*!]/.test(plain) ? '' : plain;
}

/** Parses a list in front matter, written as `[a, b]`, as `a, b` or with one item per line. */
export function listValue(lines: readonly string[], key: string): string[] {
  const at = lines.findIndex(
    (line) => line.startsWith(key) && /^[ \t]*:(?:[ \t]|$)/.test(line.slice(key.length)),
  );
  if (at === -1) return [];
  const inline = (lines[at] as string)
    .slice(key.length)
    .replace(/^[ \t]*:/, '')
    .trim();
  if (inline !== '' && !inline.startsWith('#')) {
    const inner = /^\[(.*)\](?:\s+#.*)?$/.exec(inline)?.[1];
    return (inner ?? scalar(inline))
      .split(',')
      .map(scalar)
      .filter((text) => text !== '');
  }
  const items: string[] = [];
  for (const line of lines.slice(at + 1)) {
    const item = /^[ \t]*-[ \t](.*)$/.exec(line)?.[1];
    if (item === undefined && line.trim() !== '') break;
    const text = item === undefined ? '' : scalar(item);
    if (text !== '') items.push(text);
  }
  return items;
}

/** Returns the text after the front matter. */
export function bodyOf(text: string): string {
  const lines = frontMatter(text);
  if (lines === undefined) return text.replace(/^\ufeff/, '');
  return text
    .split(/\r?\n/)
    .slice(lines.length + 2)
    .join('\n')
    .replace(/^\n+/, '');
}

/** Returns whether YAML text contains only comments and blank lines. */
export function isOnlyComments(source: string): boolean {
  const lines = source.replace(/^\ufeff/, '').split('\n');
  return lines.every((line) => /^[ \t]*(?:#|\r?$)/.test(line));
}
