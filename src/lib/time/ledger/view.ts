import { longDay, minutes, palette, plural, table, wrap } from '../../platform/terminal/format';
import type { Terminal } from '../../platform/terminal/stdio';
import { cleanLine } from '../../platform/terminal/terminal';
import { joinAnswers } from './cells';
import type { DayLedger } from './model';
import type { TimeKey, TimeReport, TimeRow } from './rows';

export interface TimeBeside {
  by: TimeKey;
  ledgers: readonly DayLedger[];
  /** Number of days without recorded time, such as backfilled days. */
  notRecorded: number;
  commits: number;
  /** Returns the name of a row. */
  label?: (key: string) => string;
}

const WIDE = 64;

/** Formats the output of `steward time`. */
export function timeText(report: TimeReport, beside: TimeBeside, terminal: Terminal): string {
  const { from, to, timezone, totalMinutes, rows } = report;
  const colors = palette(terminal);
  const columns = terminal.isTTY ? Math.max(40, terminal.columns) : 80;
  const days = from === to ? longDay(from) : `${longDay(from)} to ${longDay(to)}`;
  const show = columns < WIDE ? short : minutes;
  const cells = (row: Omit<TimeRow, 'key'>): string[] =>
    [row.minutes, row.working, row.waiting, row.heldUp].map((value) => (value === 0 ? '' : show(value)));
  const heads = ['you', 'working', 'waiting', columns < WIDE ? 'held' : 'held up'];
  const keyWidth = columns - (columns < WIDE ? 4 * 8 : 4 * 12);
  const lines = [
    ...wrap(`${days} · ${timezone}`, columns),
    ...(totalMinutes !== null && totalMinutes > 0 ? [colors.strong(`${minutes(totalMinutes)} tracked`)] : []),
    ...(rows.length === 0
      ? wrap(
          `${beside.notRecorded > 0 && totalMinutes === null ? 'Not recorded' : 'No time tracked'}. See what is captured: steward sense status`,
          columns,
        )
      : [
          '',
          ...table(
            [
              [beside.by, ...heads],
              ...rows.map((row) => [cleanLine(beside.label?.(row.key) ?? row.key, 200), ...cells(row)]),
            ],
            [{ max: keyWidth }, ...heads.map(() => ({ align: 'right' as const }))],
          ).split('\n'),
        ]),
    ...(rows.length === 0 && beside.commits === 0 ? [] : facts(beside)).flatMap((line) => [
      '',
      ...wrap(line, columns),
    ]),
  ];
  return lines.join('\n');
}

function short(value: number): string {
  const whole = Math.round(value);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

function facts({ ledgers, notRecorded, commits }: TimeBeside): string[] {
  return [
    ...agentFacts(ledgers),
    ...(commits === 0 ? [] : [`${plural(commits, 'commit')}.`]),
    ...(notRecorded === 0 ? [] : [`Your own time was not recorded on ${plural(notRecorded, 'day')}.`]),
  ];
}

/** Returns sentences about your answer times and about sessions that worked at the same time. */
export function agentFacts(ledgers: readonly DayLedger[]): string[] {
  const { count, medianMinutes, longestMinutes } = joinAnswers(ledgers.map(({ answers }) => answers));
  const median = medianMinutes === null ? 'unknown' : minutes(medianMinutes);
  const most = Math.max(0, ...ledgers.map(({ parallel }) => parallel.most));
  return [
    ...(count === 0
      ? []
      : [
          `${plural(count, 'question')} answered; median wait ${median}, longest ${minutes(longestMinutes ?? 0)}.`,
        ]),
    ...(most < 2 ? [] : [`At most ${most} sessions worked at the same time.`]),
  ];
}
