import { palette, wrap } from '../platform/terminal/format';
import type { Terminal } from '../platform/terminal/stdio';
import { clean } from '../platform/terminal/terminal';
import { NOT_CHECKED, type State } from '../platform/check';
import { WAITS, type DoctorReport, type Row } from './run';

export interface DoctorTextOptions extends Pick<Terminal, 'columns' | 'color' | 'unicode'> {
  online: boolean;
}

const INDENT = '         ';

/** Formats each finding with its fix, then the counts by state. */
export function doctorText(report: DoctorReport, options: DoctorTextOptions): string {
  const shown = report.checks.filter(({ found }) => found !== WAITS);
  const waiting = report.checks.length - shown.length;
  const lines = [
    ...merged(shown).flatMap((row) => rowLines(row, options)),
    '',
    ...wrap(summary(report, waiting), options.columns),
  ];
  if (waiting === 0 && !options.online && report.checks.some(({ found }) => found === NOT_CHECKED)) {
    lines.push(
      ...wrap(
        'Other hosts were not checked. Run `steward doctor --online` to include them.',
        options.columns,
      ),
    );
  }
  return lines.join('\n');
}

/**
 * Merges consecutive rows of a part that have the same finding. Labels the merged row with the checks'
 * names, or with the part's name if the part has no other rows.
 */
function merged(rows: readonly Row[]): Row[] {
  const groups: (Row & { ids: string[] })[] = [];
  for (const row of rows) {
    const last = groups.at(-1);
    const isSame =
      last?.part === row.part &&
      last.state === row.state &&
      last.found === row.found &&
      last.fix === row.fix &&
      last.hint === row.hint;
    if (isSame) last.ids.push(row.id);
    else groups.push({ ...row, ids: [row.id] });
  }
  const isWhole = ({ part, ids }: { part: string; ids: string[] }): boolean =>
    ids.length > 1 && rows.filter((row) => row.part === part).length === ids.length;
  return groups.map((group) => ({ ...group, id: isWhole(group) ? group.part : group.ids.join(', ') }));
}

function rowLines({ id, state, found, fix, hint }: Row, options: DoctorTextOptions): string[] {
  const colors = palette(options);
  const paint = state === 'failed' || state === 'warning' ? colors.attention : colors.neutral;
  const first = `${state.padEnd(INDENT.length)}${id}  `;
  const lines = [
    ...wrap(clean(found), options.columns, first, INDENT),
    ...(hint === null ? [] : wrap(clean(hint), options.columns, INDENT)),
    ...(fix === null || state === 'ok' ? [] : [`${INDENT}${clean(fix)}`]),
  ];
  const [head = '', ...rest] = lines;
  return [`${paint(head.slice(0, state.length))}${head.slice(state.length)}`, ...rest];
}

function summary({ counts }: DoctorReport, waiting: number): string {
  const order: readonly State[] = ['failed', 'warning', 'ok', 'off'];
  const words = order
    .map((state) => [state, state === 'off' ? counts.off - waiting : counts[state]] as const)
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${count} ${state === 'warning' && count > 1 ? 'warnings' : state}`);
  if (waiting > 0) words.push(`${waiting} not checked because the configuration is invalid`);
  return words.join(' · ');
}
