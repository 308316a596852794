export type Random = ReturnType<typeof random>;

/** Returns a generator that gives the same values for the same seed (mulberry32). */
export function random(seed: number) {
  let state = seed >>> 0;
  const upTo = (below: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
  const used = new Map<readonly string[], number>();
  return {
    /** Returns a whole number from 0 to below `below`. */
    upTo,
    pick: <T>(list: readonly T[]): T => list[upTo(list.length)] as T,
    /** Returns the list's texts in turn. */
    next(list: readonly string[]): string {
      const at = used.get(list) ?? 0;
      used.set(list, at + 1);
      return list[at % list.length] ?? '';
    },
    hex: (length: number): string => Array.from({ length }, () => upTo(16).toString(16)).join(''),
  };
}
