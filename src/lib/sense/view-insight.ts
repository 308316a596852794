import { parseIso } from '../platform/time/clock';
import { bar, longDay, palette, wrap } from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import { displayWidth, fit, padEnd, padStart } from '../platform/terminal/text-width';
import { timeOf } from '../platform/time/time';
import type { InsightOutcome, InsightPreview } from './insight';
import type { Insight } from './insight-reads';
import { finish, MIN_COLUMNS, type TextOptions } from './view';

export interface InsightTextOptions extends TextOptions {
  timezone: string;
}

const HOW =
  '"steward sense insight build" makes one; "steward sense insight preview" shows what it would send.';
const MAX_LABEL = 24;

/** `sense insight`: the narrative, a line a content type, and of when it is. */
export function insightText(insight: Insight, options: InsightTextOptions): string {
  const columns = Math.max(MIN_COLUMNS, options.columns);
  const colors = palette({ color: options.color });
  const { available, stale, date, narrative, generatedAt, since, model } = insight;
  const reason = insight.reason === undefined ? undefined : clean(insight.reason);
  if (!available || narrative === null) {
    return finish(
      [...wrap(`Nothing to show: ${reason ?? 'no read'}.`, columns), ...wrap(HOW, columns)],
      options,
    );
  }
  const at = (iso: string | null): string => timeOf(parseIso(iso ?? '') ?? 0, options.timezone);
  const head = [
    longDay(date),
    `read at ${at(generatedAt)}`,
    `since ${at(since)}`,
    ...(model === null ? [] : [clean(model)]),
  ];
  const lines = [
    ...wrap(head.join(' · '), columns),
    ...(stale ? wrap('Of an earlier day: there is no read of today.', columns).map(colors.attention) : []),
    ...(reason === undefined
      ? []
      : wrap(`The last try gave none: ${reason}.`, columns).map(colors.attention)),
    '',
    ...wrap(clean(narrative), columns),
    '',
    ...typeLines(insight, columns, colors.creation),
  ];
  return finish(lines, options);
}

function typeLines(insight: Insight, columns: number, paint: (text: string) => string): string[] {
  const rows = insight.contentTypes.map(({ label, share, evidence }) => ({
    label: fit(clean(label), Math.min(MAX_LABEL, columns - 15)),
    share,
    evidence: clean(evidence),
  }));
  const labels = Math.max(0, ...rows.map(({ label }) => displayWidth(label)));
  const most = Math.max(0, ...rows.map(({ share }) => share));
  const room = Math.max(4, Math.min(30, columns - labels - 11));
  return rows.flatMap(({ label, share, evidence }) => [
    `  ${padEnd(label, labels)}  ${padStart(`${Math.round(share * 100)} %`, 5)}  ${paint(bar(share, most, room))}`,
    ...(evidence === '' ? [] : wrap(evidence, columns, '    ')),
  ]);
}

/** `sense insight build`: what came of it. */
export function buildText(outcome: InsightOutcome, insight: Insight, options: InsightTextOptions): string {
  if (outcome.status !== 'skipped') return insightText(insight, options);
  const columns = Math.max(MIN_COLUMNS, options.columns);
  return finish(wrap(`Nothing was sent: ${outcome.reason}.`, columns), options);
}

/** Beside the prompt: where it would go. */
export function previewText({ command, skipped }: InsightPreview): string {
  const shown = command.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(clean(word))));
  return [
    skipped === null
      ? 'Nothing was sent. A build sends this text to:'
      : `A build now would send nothing: ${skipped}.`,
    ...(skipped === null ? [`  ${shown.join(' ')}`] : []),
  ].join('\n');
}
