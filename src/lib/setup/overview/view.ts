import { palette, toAscii, wrap } from '../../platform/terminal/format';
import type { Terminal } from '../../platform/terminal/stdio';
import { clean } from '../../platform/terminal/terminal';
import { padEnd } from '../../platform/terminal/text-width';
import type { Overview, Part, PartState } from './part';

const WORDS: Readonly<Record<PartState, string>> = {
  ok: 'ok',
  muted: 'muted',
  off: 'off',
  'needs-you': 'needs you',
  error: 'error',
};
const ID_COLUMNS = 10;
const STATE_COLUMNS = 11;
/** Narrower, the facts stand below their part. */
const ONE_LINE_COLUMNS = 60;
const MIN_COLUMNS = 24;

/** `steward status`: a row a part; below it the command that comes next, where there is one. */
export function overviewText({ parts, setUp }: Overview, terminal: Terminal): string {
  const columns = Math.max(MIN_COLUMNS, terminal.columns);
  const lines = [
    ...(setUp
      ? []
      : [...wrap('steward is not set up on this machine yet. "steward init" does it.', columns), '']),
    ...parts.flatMap((part) => partLines(part, columns, terminal)),
  ];
  const text = lines.map((line) => line.trimEnd()).join('\n');
  return terminal.unicode ? text : toAscii(text);
}

function partLines({ id, state, summary, next }: Part, columns: number, terminal: Terminal): string[] {
  const colors = palette(terminal);
  const paint =
    state === 'ok'
      ? (text: string): string => text
      : state === 'off' || state === 'muted'
        ? colors.neutral
        : colors.attention;
  const isWide = columns >= ONE_LINE_COLUMNS;
  const indent = isWide ? ID_COLUMNS + STATE_COLUMNS : 2;
  const facts = summary.split('\n').flatMap((line) => wrap(clean(line), columns - indent));
  const head = id.length < ID_COLUMNS ? padEnd(id, ID_COLUMNS) : `${id} `;
  const word = paint(padEnd(WORDS[state], ID_COLUMNS + STATE_COLUMNS - head.length));
  const below = ' '.repeat(indent);
  const step = next === null ? [] : [`${below}${colors.strong(clean(next))}`];
  if (!isWide) return [`${head}${word}`, ...facts.map((line) => below + line), ...step];
  return [`${head}${word}${facts[0] ?? ''}`, ...facts.slice(1).map((line) => below + line), ...step];
}
