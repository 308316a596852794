import { wrap } from '../platform/terminal/format';
import { terminalOf } from '../platform/terminal/stdio';
import { displayWidth } from '../platform/terminal/text-width';

/** A person's terminal may be wide; lines of talk that are longer read badly. */
const MAX_COLUMNS = 96;
const MIN_COLUMNS = 24;

/**
 * Talk for stderr, folded to its terminal. A line with a word that would not fit (a path, an address to copy) and one that is aligned
 * stay as they are.
 */
export function folded(text: string, columns = terminalOf(process.stderr).columns): string {
  const width = Math.max(MIN_COLUMNS, Math.min(MAX_COLUMNS, columns - 1));
  return text
    .split('\n')
    .flatMap((line) => {
      const isWhole = displayWidth(line) <= width || /\s{2}/.test(line);
      return isWhole || line.split(' ').some((word) => displayWidth(word) > width)
        ? [line]
        : wrap(line, width);
    })
    .join('\n');
}
