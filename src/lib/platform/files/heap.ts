/** A heap: the least of many, found at once; adding one and taking it away cost the logarithm of how many there are. */
export interface Heap<T> {
  add: (item: T) => void;
  /** The least; undefined when it is empty. */
  first: () => T | undefined;
  /** Takes the least away. */
  take: () => T | undefined;
  /** Takes all away, in no order. */
  takeAll: () => T[];
}

/** @param isLess of two items, is the first one the less? */
export function createHeap<T>(isLess: (a: T, b: T) => boolean): Heap<T> {
  /** Each is no less than its parent, which stands at half its place. */
  let items: T[] = [];

  const rise = (item: T, from: number): void => {
    let at = from;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = items[above] as T;
      if (!isLess(item, parent)) break;
      items[at] = parent;
      at = above;
    }
    items[at] = item;
  };

  const sink = (item: T): void => {
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= items.length) break;
      if (below + 1 < items.length && isLess(items[below + 1] as T, items[below] as T)) below += 1;
      if (!isLess(items[below] as T, item)) break;
      items[at] = items[below] as T;
      at = below;
    }
    items[at] = item;
  };

  return {
    add: (item) => rise(item, items.length),
    first: () => items[0],
    take() {
      const [least] = items;
      const last = items.pop();
      if (last !== undefined && items.length > 0) sink(last);
      return least;
    },
    takeAll() {
      const all = items;
      items = [];
      return all;
    },
  };
}
