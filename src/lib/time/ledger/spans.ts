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

/** Returns the first index from 0 to `count` for which `isReached` is true. It must stay true from there on. */
export function firstIndex(count: number, isReached: (index: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isReached(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Returns the items that overlap the span. A search is faster than a filter, because days have many spans. */
export function overlapping<T>(items: readonly T[], [from, to]: Span, spanOf: (item: T) => Span): T[] {
  const first = firstIndex(items.length, (i) => spanOf(items[i] as T)[1] > from);
  const count = firstIndex(items.length - first, (i) => spanOf(items[first + i] as T)[0] >= to);
  return items.slice(first, first + count);
}

function near(list: readonly Span[], other: readonly Span[]): Span[] {
  const span: Span = [list[0]?.[0] ?? Infinity, list.at(-1)?.[1] ?? -Infinity];
  return overlapping(other, span, (each) => each);
}

/** Returns the intersection of the two lists of spans. */
export function within(list: readonly Span[], all: readonly Span[]): Span[] {
  const other = near(list, all);
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
  for (const [start, end] of near(list, other)) {
    gaps.push([from, start]);
    from = end;
  }
  return within(list, [...gaps, [from, Infinity]]);
}

export function lengthOf(spans: readonly Span[]): number {
  return spans.reduce((sum, [from, to]) => sum + to - from, 0);
}

export function listIn<K, T>(lists: Map<K, T[]>, key: K): T[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}
