import { fstatSync } from 'node:fs';

import { unless } from '../../errors';
import { typedHere } from './own-command';
import { terminalOf, type Terminal } from './stdio';
import { displayWidth } from './text-width';

/** Maximum width of wrapped text. Longer lines are hard to read, even on a wide terminal. */
const MAX_PROSE_COLUMNS = 96;

/**
 * Names steward commands as they work here, and folds text at word boundaries to fit a terminal; a pipe or file
 * gets whole lines. Don't use this for text that users copy, such as a script.
 */
export function foldFor(stream: 'stdout' | 'stderr', text: string): string {
  const fd = stream === 'stdout' ? 1 : 2;
  // Call isatty only for a device, because loading `node:tty` takes 3 ms.
  const isDevice = unless(['EBADF'], () => fstatSync(fd).isCharacterDevice());
  const isTerminal = isDevice === true && process.getBuiltinModule('node:tty').isatty(fd);
  const typed = typedHere(text);
  return isTerminal ? shownOn(terminalOf(process[stream]), typed) : typed;
}

/** Folds text for a terminal, and replaces characters that it can't show, such as blocks. */
export function shownOn({ columns, unicode }: Pick<Terminal, 'columns' | 'unicode'>, text: string): string {
  const folded = fold(text, columns);
  return unicode ? folded : toAscii(folded);
}

export function toAscii(text: string): string {
  return text.replace(/[▁-█▉-▏·…–—→]/g, (char) => ASCII[BLOCKS.indexOf(char)] ?? '#');
}

const BLOCKS = '▏▎▍▁▂▃▄▅▆▇·…–—→';
const ASCII = '.....:-=+*-~-->';

/**
 * Folds lines that are too long. Indents continuation lines to the last column of a table, or to the line's
 * own indentation.
 */
export function fold(text: string, columns: number): string {
  return text
    .split('\n')
    .flatMap((line) => foldLine(line, columns))
    .join('\n');
}

function foldLine(line: string, columns: number): string[] {
  const [indent = ''] = /^\s*(?:[-!*·•] )?/.exec(line) ?? [];
  const body = line.slice(indent.length);
  const hang = ' '.repeat(displayWidth(indent));
  const gaps = [...body.matchAll(/(?<=\S) {2,}(?=\S)/g)].map(({ index, 0: gap }) => index + gap.length);
  const width = gaps.length > 0 ? columns : Math.min(columns, MAX_PROSE_COLUMNS);
  if (displayWidth(line) <= width) return [line];
  const [gap] = gaps;
  if (gap === undefined) return wrap(body, width, indent, hang);
  const label = gaps.findLast((at) => displayWidth(indent + body.slice(0, at)) <= columns / 2);
  if (label !== undefined) {
    const first = indent + body.slice(0, label);
    const value = body.slice(label);
    if (displayWidth(first) + Math.max(0, ...value.split(' ').map(displayWidth)) <= columns)
      return wrap(value, columns, first, ' '.repeat(displayWidth(first)));
  }
  return [
    ...wrap(body.slice(0, label ?? gap), columns, indent, hang),
    ...wrap(body.slice(label ?? gap), columns, `${hang}  `),
  ];
}

/**
 * Wraps text at `columns`, but at most at 96, and names commands as they work here, so that `fold` has nothing left to
 * wrap. `first` and `rest` are the prefixes of the first line and of the following lines.
 */
export function wrap(text: string, columns: number, first = '', rest = first): string[] {
  const width = Math.min(columns, MAX_PROSE_COLUMNS);
  const lines: string[] = [];
  let line = first;
  let isStart = true;
  const typed = typedHere(first + text).slice(first.length);
  for (const word of typed.split(' ')) {
    if (word === '') continue;
    if (!isStart && displayWidth(line) + 1 + displayWidth(word) > width) {
      lines.push(line);
      line = rest;
      isStart = true;
    }
    line = isStart ? line + word : `${line} ${word}`;
    isStart = false;
  }
  return [...lines, line];
}
