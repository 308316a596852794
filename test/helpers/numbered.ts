import type { AppendPlan } from '../../src/lib/platform/files/jsonl';

/** What the append loop stores before it appends: the next number, and the append that was decided. */
export interface Progress {
  next: number;
  plan: AppendPlan | null;
}

/** A content that tells its number and whether it is whole; of very different lengths, up to 800 KB. */
export function numbered(n: number): string {
  const filling = String.fromCharCode(97 + (n % 26)).repeat(n % 5 === 0 ? 800_000 : (n * 997) % 20_000);
  return `${n}:${filling}:${n}`;
}

/** Numbered lines, some of a few bytes and some of many pages. */
export function linesOf(from: number, count: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    const n = from + i;
    return `${n}:${'x'.repeat(n % 4 === 0 ? 200_000 : n % 100)}`;
  });
}
