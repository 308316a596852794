/** Terms that share their beginnings, and a text of 4,000 characters that has many of them in it. */
export function manyTerms(count: number): { terms: Map<string, string>; text: string } {
  const terms = new Map<string, string>();
  for (let n = 0; n < count; n += 1)
    terms.set(`service ${n % 2 === 0 ? 'name' : 'node'} ${n}`, `spoken ${n} $&`);
  const parts: string[] = [];
  for (let n = 0; parts.join(' ').length < 4000; n += 7) {
    parts.push(
      n % 5 === 0
        ? 'the site is live where they live'
        : `service ${n % 2 === 0 ? 'name' : 'node'} ${n % count}`,
    );
  }
  return { terms, text: parts.join(' ').slice(0, 4000) };
}
