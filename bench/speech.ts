/**
 * Measures the transforms before speech: 4,000 characters with 1,000 terms. The baseline is parsing the terms' JSON.
 * Run: npx tsx bench/speech.ts
 */
import { termFinder, parseTerms } from '../src/lib/notify/speech/pronunciation';
import { transform } from '../src/lib/notify/speech/pronunciation';
import { manyTerms } from '../test/helpers/large-data';
import { median } from './measure';

const ROUNDS = 200;
const LIMIT_MS = 5;

function main(): void {
  const { terms, text } = manyTerms(1000);
  const json = JSON.stringify(Object.fromEntries(terms));
  const find = termFinder(terms);
  const firstMs = timed(() => transform(text, find));
  const [transformMs, readMs, prepareMs] = [
    () => transform(text, find),
    () => parseTerms(json, 'pronunciations.json'),
    () => termFinder(terms),
  ].map((work) => median(Array.from({ length: ROUNDS }, () => timed(work))));
  if (!((transformMs ?? NaN) <= LIMIT_MS)) process.exitCode = 1;
  console.log(
    `transform of ${text.length} characters, ${terms.size} terms: median ${transformMs?.toFixed(2)} ms, first ${firstMs.toFixed(1)} ms, ` +
      `limit ${LIMIT_MS} ms; reading the terms ${readMs?.toFixed(2)} ms, preparing them ${prepareMs?.toFixed(2)} ms`,
  );
}

function timed(work: () => unknown): number {
  const began = performance.now();
  work();
  return performance.now() - began;
}

main();
