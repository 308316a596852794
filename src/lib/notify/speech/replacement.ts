/** A stretch of a text, from `start` up to `end` (UTF-16 units), and what is to stand there. */
export interface Replacement {
  start: number;
  end: number;
  written: string;
}

/** Writes replacements that are in order and do not overlap; what they write is not looked at again. */
export function written(text: string, replacements: readonly Replacement[]): string {
  let done = 0;
  let result = '';
  for (const { start, end, written: word } of replacements) {
    result += text.slice(done, start) + word;
    done = end;
  }
  return result + text.slice(done);
}
