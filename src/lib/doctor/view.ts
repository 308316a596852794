import { palette, toAscii, wrap } from '../platform/terminal/format';
import { displayWidth } from '../platform/terminal/text-width';
import type { Terminal } from '../platform/terminal/stdio';
import { clean } from '../platform/terminal/terminal';
import { NOT_CHECKED, type State } from '../platform/check';
import { WAITS, type DoctorReport, type Row } from './run';

export interface DoctorTextOptions extends Pick<Terminal, 'columns' | 'color' | 'unicode'> {
  /** Hosts beyond this machine were asked. */
  online: boolean;
}

const INDENT = '         ';

/** A line a finding, what mends it below; then how many of each. */
export function doctorText(report: DoctorReport, options: DoctorTextOptions): string {
  const shown = report.checks.filter(({ found }) => found !== WAITS);
  const waiting = report.checks.length - shown.length;
  const lines = [
    ...together(shown).flatMap((row) => rowLines(row, options)),
    '',
    ...wrap(summary(report, waiting), options.columns),
  ];
  if (waiting === 0 && !options.online && report.checks.some(({ found }) => found === NOT_CHECKED)) {
    lines.push(
      ...wrap('No other host was asked. `steward doctor --online` asks those that you use.', options.columns),
    );
  }
  const text = lines.join('\n');
  return options.unicode ? text : toAscii(text);
}

/** Rows of one part that say the same, as those of a part that is not set up, are one line under its name. */
function together(rows: readonly Row[]): Row[] {
  const kept: Row[] = [];
  for (const row of rows) {
    const last = kept.at(-1);
    const isSame =
      last?.part === row.part &&
      last.state === row.state &&
      last.found === row.found &&
      last.mend === row.mend &&
      last.hint === row.hint;
    if (isSame) last.id = row.part;
    else kept.push({ ...row });
  }
  return kept;
}

function rowLines({ id, state, found, mend, hint }: Row, options: DoctorTextOptions): string[] {
  const colors = palette(options);
  const paint = state === 'failed' || state === 'warning' ? colors.attention : colors.neutral;
  const first = `${state.padEnd(INDENT.length)}${id}  `;
  const lines = [
    ...flow(clean(found), options.columns, first),
    ...(hint === null ? [] : flow(clean(hint), options.columns, INDENT)),
    // Never broken: it is there to be copied.
    ...(mend === null || state === 'ok' ? [] : [`${INDENT}${clean(mend)}`]),
  ];
  const [head = '', ...rest] = lines;
  return [`${paint(head.slice(0, state.length))}${head.slice(state.length)}`, ...rest];
}

/** Words in lines; a path that is longer than a line stays whole. */
function flow(text: string, columns: number, first: string): string[] {
  const lines: string[] = [];
  let line = first;
  let isStart = true;
  for (const word of text.split(' ').filter((one) => one !== '')) {
    if (!isStart && displayWidth(line) + 1 + displayWidth(word) > columns) {
      lines.push(line);
      line = INDENT;
      isStart = true;
    }
    line += isStart ? word : ` ${word}`;
    isStart = false;
  }
  return [...lines, line];
}

function summary({ counts }: DoctorReport, waiting: number): string {
  const order: readonly State[] = ['failed', 'warning', 'ok', 'off'];
  const words = order
    .map((state) => [state, state === 'off' ? counts.off - waiting : counts[state]] as const)
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${count} ${state === 'warning' && count > 1 ? 'warnings' : state}`);
  if (waiting > 0) words.push(`${waiting} not looked at until the configuration is mended`);
  return words.join(' · ');
}
