import { randomFillSync } from 'node:crypto';

/** A set of texts that only grows. */
export interface KeySet {
  has: (key: string) => boolean;
  /** True when it was not there. */
  add: (key: string) => boolean;
  size: () => number;
}

const WORDS = 4;
const FIRST_SLOTS = 256;
const FULLEST = 0.8;
const GROWTH = 1.5;

/**
 * Keeps 128 bits of each text and not the text: some 30 bytes for each, where a Set of names of 20 characters takes a
 * hundred. That two texts of a million have the same bits is not to be expected in the life of the universe; they
 * are mixed with seeds of this process, so that it would not be the same two again.
 */
export function keySet(): KeySet {
  const seeds = randomFillSync(new Uint32Array(WORDS));
  const hash = new Uint32Array(WORDS);
  let slots = FIRST_SLOTS;
  let table = new Uint32Array(slots * WORDS);
  let count = 0;

  /** Where these bits stand, or the empty slot that they belong into. */
  const find = (bits: Uint32Array, at: number): number => {
    let slot = (bits[at] as number) % slots;
    for (;;) {
      const start = slot * WORDS;
      // A slot whose first word is 0 is empty: no hash has a 0 there.
      if (table[start] === 0) return start;
      if (
        table[start] === bits[at] &&
        table[start + 1] === bits[at + 1] &&
        table[start + 2] === bits[at + 2] &&
        table[start + 3] === bits[at + 3]
      )
        return start;
      slot = slot + 1 === slots ? 0 : slot + 1;
    }
  };

  const put = (bits: Uint32Array, from: number, to: number): void => {
    for (let word = 0; word < WORDS; word += 1) table[to + word] = bits[from + word] as number;
  };

  const grow = (): void => {
    const old = table;
    slots = Math.ceil(slots * GROWTH);
    table = new Uint32Array(slots * WORDS);
    for (let at = 0; at < old.length; at += WORDS) if (old[at] !== 0) put(old, at, find(old, at));
  };

  return {
    has: (key) => {
      hashInto(hash, key, seeds);
      return table[find(hash, 0)] !== 0;
    },
    add: (key) => {
      hashInto(hash, key, seeds);
      const at = find(hash, 0);
      if (table[at] !== 0) return false;
      put(hash, 0, at);
      count += 1;
      if (count > slots * FULLEST) grow();
      return true;
    },
    size: () => count,
  };
}

/** Four lanes that each see every character, then each other. */
function hashInto(out: Uint32Array, text: string, seeds: Uint32Array): void {
  let a = seeds[0] as number;
  let b = seeds[1] as number;
  let c = seeds[2] as number;
  let d = seeds[3] as number;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    a = b ^ Math.imul(a ^ unit, 597399067);
    b = c ^ Math.imul(b ^ unit, 2869860233);
    c = d ^ Math.imul(c ^ unit, 951274213);
    d = a ^ Math.imul(d ^ unit, 2716044179);
  }
  a = Math.imul(c ^ (a >>> 18), 597399067);
  b = Math.imul(d ^ (b >>> 22), 2869860233);
  c = Math.imul(a ^ (c >>> 17), 951274213);
  d = Math.imul(b ^ (d >>> 19), 2716044179);
  a ^= b ^ c ^ d ^ text.length;
  out[0] = a >>> 0 || 1;
  out[1] = b ^ a;
  out[2] = c ^ a;
  out[3] = d ^ a;
}
