/** A time span in ms, excluding the end. Lists of spans are sorted and disjoint. */
export type Span = readonly [from: number, to: number];

export function merged(spans: readonly Span[]): Span[] {
  const list: [number, number][] = [];
  for (const [from, to] of [...spans].sort((a, b) => a[0] - b[0])) {
    const last = list.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else if (from < to) list.push([from, to]);
  }
  return list;
}

/** Returns the intersection of the two lists of spans. */
export function within(list: readonly Span[], other: readonly Span[]): Span[] {
  const parts: Span[] = [];
  let at = 0;
  for (const [from, to] of list) {
    while ((other[at]?.[1] ?? Infinity) <= from) at += 1;
    for (let i = at; i < other.length; i += 1) {
      const [start, end] = other[i] as Span;
      if (start >= to) break;
      parts.push([Math.max(from, start), Math.min(to, end)]);
    }
  }
  return parts;
}

/** Returns the parts of `list` that don't overlap `other`. */
export function without(list: readonly Span[], other: readonly Span[]): Span[] {
  const gaps: Span[] = [];
  let from = -Infinity;
  for (const [start, end] of other) {
    gaps.push([from, start]);
    from = end;
  }
  return within(list, [...gaps, [from, Infinity]]);
}

export function lengthOf(spans: readonly Span[]): number {
  return spans.reduce((sum, [from, to]) => sum + to - from, 0);
}
