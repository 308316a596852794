import type { JsonNode } from './json-tree';

export interface Edit {
  start: number;
  end: number;
  text: string;
}

/** Applies edits that do not overlap. */
export function applyEdits(source: string, edits: readonly Edit[]): string {
  return [...edits]
    .sort((a, b) => b.start - a.start)
    .reduce(
      (text, { start, end, text: inserted }) => text.slice(0, start) + inserted + text.slice(end),
      source,
    );
}

/**
 * Appends an item or member in the style of its neighbors. If the container wasn't empty before,
 * `removeChildren` restores the exact original text.
 */
export function appendChild(source: string, container: JsonNode, value: unknown, key?: string): Edit {
  const style = styleOf(source);
  const last = childrenOf(container).at(-1);
  if (last !== undefined) {
    const indent = /(?:\n)([ \t]*)$/.exec(source.slice(0, last.start))?.[1];
    const lead = indent === undefined ? gapBefore(source, container) : style.newline + indent;
    const text = indent === undefined ? inline(value, key) : pretty(value, key, indent, style);
    return { start: last.end, end: last.end, text: `,${lead}${text}` };
  }
  const inside = source.slice(container.start + 1, container.end - 1);
  // Inserts the first child before a comment in the container.
  const span = {
    start: container.start + 1,
    end: container.end - (inside.trim() === '' ? 1 : inside.length + 1),
  };
  if (style.compact) return { ...span, text: inline(value, key) };
  const outer = lineIndent(source, container.start);
  const inner = outer + style.unit;
  return {
    ...span,
    text: `${style.newline}${inner}${pretty(value, key, inner, style)}${style.newline}${outer}`,
  };
}

/** Removes children from a container with their commas and leading white space. */
export function removeChildren(source: string, container: JsonNode, removed: ReadonlySet<number>): Edit[] {
  const children = childrenOf(container);
  const [first, last] = [children[0], children.at(-1)];
  if (removed.size === children.length && first !== undefined && last !== undefined) {
    const [start, end] = [container.start + 1, container.end - 1];
    const isBare = (source.slice(start, first.start) + source.slice(last.end, end)).trim() === '';
    return [isBare ? { start, end, text: '' } : { start: first.start, end: last.end, text: '' }];
  }
  let keptBefore = false;
  return children.flatMap((child, index): Edit[] => {
    if (!removed.has(index)) {
      keptBefore = true;
      return [];
    }
    const next = children[index + 1];
    // Removes a first child's trailing comma, or any other child's leading comma.
    if (!keptBefore && next !== undefined) return [{ start: child.start, end: next.start, text: '' }];
    return [{ start: children[index - 1]?.end ?? child.start, end: child.end, text: '' }];
  });
}

function childrenOf(container: JsonNode) {
  if (container.kind === 'array') return container.items;
  return container.members.map(({ keyStart, value }) => ({ start: keyStart, end: value.end }));
}

type Style = ReturnType<typeof styleOf>;

function styleOf(source: string) {
  const body = source.replace(/^\ufeff/, '').trim();
  return {
    unit: /\n([ \t]+)"/.exec(source)?.[1] ?? '  ',
    newline: source.includes('\r\n') ? '\r\n' : '\n',
    compact: !body.includes('\n') && !/^[[{]\s*[\]}]$/.test(body),
  };
}

function lineIndent(source: string, offset: number): string {
  const lineStart = source.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(source.slice(lineStart, offset))?.[0] ?? '';
}

/** Returns the separator between the children of a single-line container. */
function gapBefore(source: string, container: JsonNode): string {
  const [first, second] = childrenOf(container);
  if (first === undefined || second === undefined) return source.includes('\n') ? ' ' : '';
  return /,(\s*)$/.exec(source.slice(first.end, second.start))?.[1] ?? '';
}

function inline(value: unknown, key: string | undefined): string {
  return (key === undefined ? '' : `${JSON.stringify(key)}:`) + JSON.stringify(value);
}

function pretty(value: unknown, key: string | undefined, indent: string, style: Style): string {
  const text = JSON.stringify(value, null, style.unit).replaceAll('\n', style.newline + indent);
  return (key === undefined ? '' : `${JSON.stringify(key)}: `) + text;
}
