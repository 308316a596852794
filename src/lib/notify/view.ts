import { palette, table, toAscii, wrap, type Palette } from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import { fit } from '../platform/terminal/text-width';
import { timeOf, dayOf } from '../platform/time/time';
import type { ChannelResult, HistoryEntry } from './history';
import type { RoutesReport } from './routing';
import type { TestResult } from './channels/channel';

export interface ViewOptions {
  columns: number;
  color: boolean;
  /** False for terminals without such characters. */
  unicode?: boolean;
  zone: string;
  nowMs: number;
}

const NARROW = 70;
const NONE_YET = 'No notification yet. `steward notify send MESSAGE` sends one.';

/**
 * `notify history`: a line a notification, and a line for each channel that did not simply take it; `dead` is what the
 * outbox has given up, with the reasons.
 */
export function historyText(
  entries: readonly HistoryEntry[],
  options: ViewOptions & { dead?: string | undefined },
): string {
  if (entries.length === 0) return wrap(NONE_YET, options.columns).join('\n');
  const colors = palette(options);
  const lines = entries.flatMap((entry) => entryLines(entry, options, colors));
  if (options.dead !== undefined) lines.push('', ...wrap(clean(options.dead), options.columns));
  return plain(lines.join('\n'), options);
}

function entryLines(entry: HistoryEntry, options: ViewOptions, colors: Palette): string[] {
  const at = Date.parse(entry.at);
  const when = isToday(at, options) ? timeOf(at, options.zone) : dayOf(at, options.zone);
  const text = clean(entry.title === null ? entry.text : `${entry.title}: ${entry.text}`);
  const took = entry.channels.filter(({ result }) => result === 'delivered').map(({ channel }) => channel);
  const head = [when, took.join(', ') || '–', text].join('  ');
  // An id takes most of a narrow terminal, and is nothing that could be cut.
  const heads = options.columns < NARROW ? [entry.id, `  ${head}`] : [`${entry.id}  ${head}`];
  const rest = entry.channels.filter(({ result, maybeTwice }) => result !== 'delivered' || maybeTwice);
  return [
    ...heads.map((line) => fit(line, options.columns)),
    ...sameLines(entry, options),
    ...nobodyLines(entry, options),
    ...rest.flatMap((one) => channelLines(one, options, colors)),
  ];
}

function sameLines({ duplicateOf }: HistoryEntry, { columns }: ViewOptions): string[] {
  return duplicateOf === null
    ? []
    : wrap(`the same as ${duplicateOf}, and not sent again`, columns, '  ', '    ');
}

/** What no channel was meant for is told of nowhere: that is easily asked for, and hard to find out. */
function nobodyLines(entry: HistoryEntry, { columns }: ViewOptions): string[] {
  if (entry.channels.length > 0 || entry.duplicateOf !== null) return [];
  const text = `no channel takes ${entry.event}, and the voice was off for it or not asked for; see \`steward notify routes\``;
  return wrap(text, columns, '  nobody  ', '    ');
}

/** `  push  waits until 07:00: quiet hours` */
function channelLines(one: ChannelResult, options: ViewOptions, colors: Palette): string[] {
  const words = resultWords(one, options);
  const text = clean(one.reason === null ? words : `${words}: ${one.reason}`);
  const lines = wrap(text, options.columns, `  ${one.channel}  `, '    ');
  const isBad = ['failed', 'expired', 'unknown'].includes(one.result);
  return lines.map((line) => (isBad ? colors.attention(line) : colors.neutral(line)));
}

type Moment = Pick<ViewOptions, 'zone' | 'nowMs'>;

function isToday(ms: number, { zone, nowMs }: Moment): boolean {
  return dayOf(ms, zone) === dayOf(nowMs, zone);
}

/** `07:00`, and with its day when that is another one. */
export function untilText(iso: string, moment: Moment): string {
  const ms = Date.parse(iso);
  const time = timeOf(ms, moment.zone);
  return isToday(ms, moment) ? time : `${dayOf(ms, moment.zone)} ${time}`;
}

function waitWords(nextAt: string, moment: Moment): string {
  const inSec = Math.ceil((Date.parse(nextAt) - moment.nowMs) / 1000);
  if (inSec <= 0) return 'is tried again now';
  return inSec < 90 ? `is tried again in ${inSec} s` : `waits until ${untilText(nextAt, moment)}`;
}

function resultWords({ result, nextAt, maybeTwice }: ChannelResult, moment: Moment): string {
  if (result === 'waiting') return nextAt === null ? 'on its way' : waitWords(nextAt, moment);
  if (result === 'delivered' && maybeTwice) return 'delivered, perhaps twice';
  return RESULT_WORDS[result];
}

const RESULT_WORDS: Readonly<Record<ChannelResult['result'], string>> = {
  delivered: 'delivered',
  shown: 'shown instead',
  failed: 'failed',
  expired: 'given up',
  superseded: 'overtaken',
  unknown: 'not known',
  waiting: 'on its way',
  skipped: 'not sent',
};

/** What `notify send --wait` says: a line a channel. */
export function answersText(entry: HistoryEntry, options: ViewOptions): string {
  const colors = palette(options);
  const lines = entry.channels.flatMap((one) => channelLines(one, options, colors));
  return plain([entry.id, ...lines, ...nobodyLines(entry, options)].join('\n'), options);
}

/** `notify routes` */
export function routesText(report: RoutesReport, options: ViewOptions): string {
  const colors = palette(options);
  const isVoiceOff = report.off.some(({ channel }) => channel === 'voice');
  const spoken = isVoiceOff ? 'voice (off)' : report.muted.muted ? 'voice (muted)' : 'voice';
  const rows = report.events.map(({ event, voice, channels, title }) => [
    event,
    [...(voice ? [spoken] : []), ...channels].join(' + ') || 'nobody',
    title,
  ]);
  const lines = table(rows)
    .split('\n')
    .map((line) => fit(line, options.columns));
  const notes = [
    `A task of more than ${report.longTaskMinutes} minutes is a longTask.`,
    report.muted.muted
      ? `The voice is muted ${report.muted.until === null ? 'until `steward notify unmute`' : `until ${untilText(report.muted.until, options)}`}; what it would say is shown.`
      : undefined,
    report.quietHours === null
      ? undefined
      : `Quiet hours ${report.quietHours}${report.quietUntil === null ? '' : ', now'}: push waits for their end, nothing is spoken.`,
  ].filter((note) => note !== undefined);
  const off = report.off.flatMap(({ channel, reason, hint }) =>
    wrap(`${reason}. ${hint}`, options.columns, `  ${channel}  `, '    '),
  );
  const broken = report.broken.flatMap(({ channel, reason, hint }) =>
    wrap(clean(`${reason} ${hint}`), options.columns, `  ${channel}  `, '    '),
  );
  const parts = [...lines, '', ...notes.flatMap((note) => wrap(note, options.columns))];
  if (broken.length > 0) parts.push('', 'Does not work:', ...broken.map((line) => colors.attention(line)));
  if (off.length > 0) parts.push('', 'Not in use:', ...off.map((line) => colors.neutral(line)));
  return plain(parts.join('\n'), options);
}

/** `notify test` */
export function testText(results: readonly TestResult[], options: ViewOptions): string {
  const colors = palette(options);
  const lines = results.flatMap(({ channel, state, reason, hint }) => {
    const words = state === 'ok' ? 'works' : state === 'off' ? `off: ${reason}.` : `does not work. ${reason}`;
    const text = wrap(
      clean([words, hint].filter((part) => part !== null).join(' ')),
      options.columns,
      `${channel.padEnd(8)} `,
      '         ',
    );
    return state === 'failed' ? text.map((line) => colors.attention(line)) : text;
  });
  return plain(lines.join('\n'), options);
}

function plain(text: string, { unicode }: ViewOptions): string {
  return unicode === false ? toAscii(text) : text;
}
