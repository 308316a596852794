import { bar, longDay, palette, wrap, joinLines, type TextOptions } from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import { displayWidth, fit, padEnd, padStart } from '../platform/terminal/text-width';
import { parseIso } from '../platform/time/clock';
import { timeOf } from '../platform/time/time';
import type { InsightOutcome, InsightPreview } from './insight';
import type { Insight } from './insight-reads';
import { MIN_COLUMNS } from './view';

export interface InsightTextOptions extends TextOptions {
  timezone: string;
}

const HOW =
  'Build an insight with "steward sense insight build", or see what would be sent with "steward sense insight build --dry-run".';
const MAX_LABEL = 24;

export function insightText(insight: Insight, options: InsightTextOptions): string {
  const columns = Math.max(MIN_COLUMNS, options.columns);
  const { attention } = palette(options);
  const { available, stale, date, narrative, generatedAt, since, model } = insight;
  const reason = clean(insight.reason ?? '');
  if (!available || narrative === null) {
    const none = `Insight unavailable: ${reason || 'not built yet'}.`;
    return joinLines([...wrap(none, columns), ...wrap(HOW, columns)]);
  }
  const at = (iso: string | null): string => timeOf(parseIso(iso ?? '') ?? 0, options.timezone);
  const head = [longDay(date), `built at ${at(generatedAt)}`, `since ${at(since)}`];
  if (model !== null) head.push(clean(model));
  const notes = [
    ...(stale ? ['This insight is from an earlier day; there is none for today yet.'] : []),
    ...(reason === '' ? [] : [`The last build failed: ${reason}.`]),
  ];
  const lines = [
    ...wrap(head.join(' · '), columns),
    ...notes.flatMap((note) => wrap(note, columns).map(attention)),
    '',
    ...wrap(clean(narrative), columns),
    '',
    ...typeLines(insight, columns, options),
  ];
  return joinLines(lines);
}

function typeLines({ contentTypes }: Insight, columns: number, options: TextOptions): string[] {
  const { creation } = palette(options);
  const nameOf = (label: string): string => fit(clean(label), Math.min(MAX_LABEL, columns - 15));
  const labels = Math.max(0, ...contentTypes.map(({ label }) => displayWidth(nameOf(label))));
  const most = Math.max(0, ...contentTypes.map(({ share }) => share));
  const room = Math.max(4, Math.min(30, columns - labels - 11));
  return contentTypes.flatMap(({ label, share, evidence }) => {
    const percent = padStart(`${Math.round(share * 100)} %`, 5);
    return [
      `  ${padEnd(nameOf(label), labels)}  ${percent}  ${creation(bar(share, most, room))}`,
      ...(evidence === '' ? [] : wrap(clean(evidence), columns, '    ')),
    ];
  });
}

export function buildText(outcome: InsightOutcome, insight: Insight, options: InsightTextOptions): string {
  if (outcome.status !== 'skipped') return insightText(insight, options);
  const columns = Math.max(MIN_COLUMNS, options.columns);
  return joinLines(wrap(`Nothing was sent: ${outcome.reason}.`, columns));
}

/** Returns the command that would receive the prompt, or the reason why nothing would be sent. */
export function previewText({ command, skipped }: InsightPreview): string {
  if (skipped !== null) return `A build would send nothing now: ${skipped}.`;
  const shown = command.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(clean(word))));
  return `Nothing was sent. A build would send this text to:\n  ${shown.join(' ')}`;
}
