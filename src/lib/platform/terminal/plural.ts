/** `1 commit`, `2 commits`; with the plural where it is another: `1 entry`, `2 entries`. */
export function plural(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : nouns}`;
}
