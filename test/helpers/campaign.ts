import { seeded, type Random } from './random';

/** Where the random choices of a campaign begin: `STEWARD_SEED` repeats a run. */
export const SEED = Number(process.env['STEWARD_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

/** `STEWARD_KILLS=2000` runs every campaign with so many kills; without it each has a few, enough to notice a break. */
export function killsOr(few: number): number {
  return Math.max(1, Number(process.env['STEWARD_KILLS'] ?? few));
}

/** The random choices of a campaign, whose seed is printed with the test's output. */
export function campaign(name: string): Random {
  console.log(`      ${name}: seed ${SEED}`);
  return seeded(SEED);
}
