import { palette, table, wrap } from '../platform/terminal/format';
import type { Terminal } from '../platform/terminal/stdio';
import { clean } from '../platform/terminal/terminal';
import { fit, fitName } from '../platform/terminal/text-width';
import { ago, newsOf } from '../sessions/view';
import type { Inbox, InboxRow } from './row';

export interface InboxTextOptions extends Terminal {
  nowMs: number;
  /** Whether each row says why it has its place. */
  why?: boolean;
}

const NARROW = 60;
const MAX_NAME = 28;
const MAX_WHY = 40;
const HOW_TO_LIST = 'To see them: steward inbox --snoozed. To list one again: steward inbox snooze ROW now';

export function inboxText({ rows, snoozed, asOf }: Inbox, options: InboxTextOptions): string {
  const lines = rows.length === 0 ? ['Nothing waits for you.'] : inboxLines(rows, options);
  const hidden = snoozed > 0 ? [`${snoozed} snoozed. ${HOW_TO_LIST}`] : [];
  const below = [...hidden, asOfText(asOf, options.nowMs)];
  return [...lines, '', ...below.flatMap((line) => wrap(line, options.columns))].join('\n');
}

/** Formats each row as one line; on a narrow terminal, or with `why`, as two. */
export function inboxLines(rows: readonly InboxRow[], options: InboxTextOptions): string[] {
  const { columns, nowMs, why: hasRule = false } = options;
  const { attention, neutral } = palette(options);
  const isNarrow = columns < NARROW;
  const nameMax = isNarrow ? columns : Math.max(12, Math.min(MAX_NAME, columns - MAX_WHY - 12));
  const cells = rows.map((row) => [
    fitName(clean(row.name), nameMax),
    clean(row.why),
    ago(row.since, nowMs),
    clean(row.title ?? newsOf(row, nowMs).join('')),
  ]);
  const formats = [{}, { max: MAX_WHY }, { align: 'right' as const }];
  const lines = isNarrow ? cells.map(([name = '']) => name) : table(cells, formats).split('\n');
  return lines.flatMap((line, index) => {
    const paint = rows[index]?.blocks === true ? attention : String;
    const own = paint(fit(line, columns).trimEnd());
    if (!isNarrow && !hasRule) return own;
    const [, ...rest] = cells[index] ?? [];
    const more = isNarrow ? [rest.filter((cell) => cell !== '').join(' · ')] : [];
    const rule = hasRule ? [rows[index]?.rule ?? ''] : [];
    return [own, ...[...more, ...rule].map((text) => neutral(fit(`  ${text}`, columns)))];
  });
}

/** Groups the sources by age, such as `issues 2 m ago · sessions, hooks now`. */
function asOfText(asOf: Inbox['asOf'], nowMs: number): string {
  const sources = new Map<string, string[]>();
  for (const [source, at] of Object.entries(asOf)) {
    const age = at === null ? 'not read yet' : `${ago(at, nowMs)} ago`.replace(/^0 m ago$/, 'now');
    sources.set(age, [...(sources.get(age) ?? []), source]);
  }
  return `Read: ${[...sources].map(([age, names]) => `${names.join(', ')} ${age}`).join(' · ')}`;
}
