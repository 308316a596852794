/** A generator that gives the same numbers for the same seed (mulberry32). */
export interface Random {
  /** From 0 to below 1. */
  next: () => number;
  /** A whole number from 0 to below `below`. */
  below: (below: number) => number;
  chance: (probability: number) => boolean;
  pick: <T>(list: readonly T[]) => T;
}

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (bound: number): number => Math.floor(next() * bound);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (list) => list[below(list.length)] as (typeof list)[number],
  };
}

/** Where the random choices of a campaign begin: `STEWARD_SEED` repeats a run. */
export const SEED = Number(process.env['STEWARD_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

/** A campaign that was asked for, which leaves nothing out. */
export const IS_LONG = process.env['STEWARD_KILLS'] !== undefined;

/** `STEWARD_KILLS=2000` runs every campaign with so many kills; without it each has a few, enough to notice a break. */
export function killsOr(few: number): number {
  return Math.max(1, Number(process.env['STEWARD_KILLS'] ?? few));
}

/** The random choices of a campaign, whose seed is printed with the test's output. */
export function campaign(name: string): Random {
  console.log(`      ${name}: seed ${SEED}`);
  return seeded(SEED);
}
