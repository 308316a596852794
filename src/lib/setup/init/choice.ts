/**
 * Which of so many numbered things are meant: `all`, `none`, or numbers and ranges such as `1 3-5`; 0-based, in order.
 * Undefined: it cannot be read.
 */
export function chosenNumbers(text: string, count: number): number[] | undefined {
  const words = text
    .trim()
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((word) => word !== '');
  if (words.length === 1 && words[0] === 'all') return Array.from({ length: count }, (_, index) => index);
  if (words.length === 1 && words[0] === 'none') return [];
  const chosen = new Set<number>();
  for (const word of words) {
    const range = /^(\d{1,4})(?:-(\d{1,4}))?$/.exec(word);
    const [from, to] = [Number(range?.[1]), Number(range?.[2] ?? range?.[1])];
    if (range === null || from < 1 || to > count || from > to) return undefined;
    for (let number = from; number <= to; number += 1) chosen.add(number - 1);
  }
  return words.length === 0 ? undefined : [...chosen].sort((a, b) => a - b);
}

/**
 * Which of some names are meant: `all`, `none`, or names apart by commas or spaces, in the order of the table. What is
 * none of them comes back as `unknown`.
 */
export function chosenNames<T extends string>(
  text: string,
  names: readonly T[],
): { chosen: T[] } | { unknown: string } {
  const words = text
    .trim()
    .split(/[\s,]+/)
    .filter((word) => word !== '');
  if (words.length === 1 && words[0]?.toLowerCase() === 'all') return { chosen: [...names] };
  if (words.length === 1 && words[0]?.toLowerCase() === 'none') return { chosen: [] };
  const known = (word: string): T | undefined =>
    names.find((name) => name.toLowerCase() === word.toLowerCase());
  const unknown = words.find((word) => known(word) === undefined);
  if (unknown !== undefined || words.length === 0) return { unknown: unknown ?? '' };
  const meant = new Set(words.map(known));
  return { chosen: names.filter((name) => meant.has(name)) };
}
