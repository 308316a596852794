import { palette, toAscii, wrap } from '../../platform/format';
import type { Terminal } from '../../platform/stdio';
import { clean } from '../../platform/terminal';
import type { State } from './finding';
import type { DoctorReport, Row } from './report';
import { WAITS } from './run';

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
    ...shown.flatMap((row) => rowLines(row, options)),
    '',
    ...wrap(summary(report, waiting), options.columns),
  ];
  if (waiting === 0 && !options.online && report.checks.some(({ found }) => found === NOT_ASKED)) {
    lines.push(
      ...wrap('No other host was asked. `steward doctor --online` asks those that you use.', options.columns),
    );
  }
  const text = lines.join('\n');
  return options.unicode ? text : toAscii(text);
}

/** What is said of a check that would ask another host, without `--online`. */
export const NOT_ASKED = 'not asked: it is another host';

function rowLines({ id, state, found, mend, hint }: Row, options: DoctorTextOptions): string[] {
  const colors = palette(options);
  const paint = state === 'failed' || state === 'warning' ? colors.attention : colors.neutral;
  const [first = '', ...rest] = wrap(clean(found), options.columns, `${state.padEnd(9)}${id}  `, INDENT);
  return [
    `${paint(first.slice(0, state.length))}${first.slice(state.length)}`,
    ...rest,
    ...(hint === null ? [] : wrap(clean(hint), options.columns, INDENT)),
    // Never wrapped: it is there to be copied.
    ...(mend === null || state === 'ok' ? [] : [`${INDENT}${clean(mend)}`]),
  ];
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
