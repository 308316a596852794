import { palette, table, wrap, type Palette, type TextOptions } from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import { fit } from '../platform/terminal/text-width';
import { timeOf, dayOf } from '../platform/time/time';
import type { TestResult } from './channels/channel';
import type { ChannelResult, HistoryEntry } from './history';
import type { RoutesReport } from './routing';

interface ViewOptions extends TextOptions {
  zone: string;
  nowMs: number;
}

type Moment = Pick<ViewOptions, 'zone' | 'nowMs'>;

const NARROW = 70;
const EMPTY = 'No notifications yet. Send one with `steward notify send MESSAGE`.';

/**
 * Formats the output of `notify history`, with one line per notification and one line per channel that has a
 * problem. `options.dead` summarizes the failed deliveries.
 */
export function historyText(
  entries: readonly HistoryEntry[],
  options: ViewOptions & { dead?: string | undefined },
): string {
  if (entries.length === 0) return wrap(EMPTY, options.columns).join('\n');
  const colors = palette(options);
  const lines = entries.flatMap((entry) => entryLines(entry, options, colors));
  if (options.dead !== undefined) lines.push('', ...wrap(clean(options.dead), options.columns));
  return lines.join('\n');
}

function entryLines(entry: HistoryEntry, options: ViewOptions, colors: Palette): string[] {
  const at = Date.parse(entry.at);
  const when = isToday(at, options) ? timeOf(at, options.zone) : dayOf(at, options.zone);
  const text = clean(entry.title === null ? entry.text : `${entry.title}: ${entry.text}`);
  const delivered = entry.channels.filter(({ result }) => result === 'delivered');
  const head = [when, delivered.map(({ channel }) => channel).join(', ') || '–', text].join('  ');
  // On a narrow terminal, the id gets its own line, so that it isn't truncated.
  const heads = options.columns < NARROW ? [entry.id, `  ${head}`] : [`${entry.id}  ${head}`];
  const rest = entry.channels.filter(
    ({ result, maybeTwice, reason }) => result !== 'delivered' || maybeTwice || reason !== null,
  );
  const same =
    entry.duplicateOf === null
      ? []
      : wrap(`duplicate of ${entry.duplicateOf}, not sent again`, options.columns, '  ', '    ');
  return [
    ...heads.map((line) => fit(line, options.columns)),
    ...same,
    ...noChannelLines(entry, options),
    ...rest.flatMap((result) => channelLines(result, options, colors)),
  ];
}

function noChannelLines(entry: HistoryEntry, { columns }: ViewOptions): string[] {
  if (entry.channels.length > 0 || entry.duplicateOf !== null) return [];
  const text = `neither a channel nor the voice is set up for ${entry.event}; see \`steward notify routes\``;
  return wrap(text, columns, '  not sent: ', '    ');
}

/** Formats a channel's result, such as `  push  waiting until 07:00: …`. */
function channelLines(result: ChannelResult, options: ViewOptions, colors: Palette): string[] {
  const words = resultWords(result, options);
  const text = clean(result.reason === null ? words : `${words}: ${result.reason}`);
  const lines = wrap(text, options.columns, `  ${result.channel}  `, '    ');
  const isBad = ['failed', 'expired', 'unknown'].includes(result.result);
  return lines.map((line) => (isBad ? colors.attention(line) : colors.neutral(line)));
}

function isToday(ms: number, { zone, nowMs }: Moment): boolean {
  return dayOf(ms, zone) === dayOf(nowMs, zone);
}

/** Formats a time such as `07:00`, and adds the date unless it is today. */
export function untilText(iso: string, moment: Moment): string {
  const ms = Date.parse(iso);
  const time = timeOf(ms, moment.zone);
  return isToday(ms, moment) ? time : `${dayOf(ms, moment.zone)} ${time}`;
}

function resultWords({ result, nextAt, maybeTwice }: ChannelResult, moment: Moment): string {
  if (result === 'delivered' && maybeTwice) return 'delivered, possibly twice';
  if (result !== 'waiting' || nextAt === null) return RESULT_WORDS[result];
  const inSec = Math.ceil((Date.parse(nextAt) - moment.nowMs) / 1000);
  if (inSec <= 0) return 'retrying now';
  return inSec < 90 ? `retrying in ${inSec} s` : `waiting until ${untilText(nextAt, moment)}`;
}

const RESULT_WORDS: Readonly<Record<ChannelResult['result'], string>> = {
  delivered: 'delivered',
  shown: 'not spoken',
  failed: 'failed',
  expired: 'expired',
  superseded: 'replaced',
  unknown: 'unknown',
  waiting: 'accepted',
  skipped: 'skipped',
};

function outcomeWords({ channels, duplicateOf }: HistoryEntry): string {
  if (duplicateOf !== null) return `Sent before as ${duplicateOf}, so not sent again.`;
  const delivered = channels.filter(({ result }) => result === 'delivered').map(({ channel }) => channel);
  if (delivered.length > 0) return `Delivered: ${delivered.join(', ')}.`;
  return channels.some(({ result }) => result === 'waiting') ? 'Accepted.' : 'Not delivered.';
}

export function answersText(entry: HistoryEntry, options: ViewOptions): string {
  const colors = palette(options);
  const lines = entry.channels.flatMap((result) => channelLines(result, options, colors));
  return [
    `${outcomeWords(entry)}  ${colors.neutral(entry.id)}`,
    ...lines,
    ...noChannelLines(entry, options),
  ].join('\n');
}

export function routesText(report: RoutesReport, options: ViewOptions): string {
  const colors = palette(options);
  const { columns } = options;
  const { maySpeak, muted, quietHours, quietUntil, longTaskMinutes, breakMinutes } = report;
  const isOff = new Set<string>(report.off.map(({ channel }) => channel));
  const named = (channel: string): string => (isOff.has(channel) ? `${channel} (off)` : channel);
  const voice = muted.muted && !isOff.has('voice') ? 'voice (muted)' : named('voice');
  const rows = report.events.map(({ event, voice: isSpoken, channels, title, atBreak }) => {
    const routed = [...(isSpoken ? [voice] : []), ...channels.map(named)].join(' + ') || 'none';
    return [event, atBreak ? `${routed} (at a break)` : routed, title];
  });
  const until = muted.until === null ? '`steward notify unmute`' : untilText(muted.until, options);
  const isQuiet = quietUntil === null ? '' : ' (now)';
  const notes = [
    `A task longer than ${longTaskMinutes} minutes triggers longTask.`,
    ...(report.events.some(({ atBreak }) => atBreak)
      ? [`Messages wait for a break for at most ${breakMinutes} minutes, and are then not spoken.`]
      : []),
    ...(maySpeak || isOff.has('voice')
      ? []
      : ['Only messages that you send are spoken; allow the rest with `steward init --voice on`.']),
    ...(muted.muted ? [`The voice is muted until ${until}; using banners instead.`] : []),
    ...(quietHours === null
      ? []
      : [`Quiet hours ${quietHours}${isQuiet}: pushes are held, and nothing is spoken.`]),
  ];
  const off = report.off.flatMap(({ channel, reason, hint }) =>
    wrap(`${reason}. ${hint}`, columns, `  ${channel}  `, '    '),
  );
  const broken = report.broken.flatMap(({ channel, reason, hint }) =>
    wrap(clean(`${reason} ${hint}`), columns, `  ${channel}  `, '    '),
  );
  // The event's name says enough where its title has no room.
  const hasRoom = table(rows)
    .split('\n')
    .every((line) => line.length <= columns);
  const indent = Math.max(...rows.map(([event = '']) => event.length)) + 2;
  const lines = hasRoom
    ? table(rows).split('\n')
    : rows.flatMap(([event = '', channels = '']) =>
        wrap(channels, columns, event.padEnd(indent), ' '.repeat(indent)),
      );
  lines.push('', ...notes.flatMap((note) => wrap(note, columns)));
  if (broken.length > 0) lines.push('', 'Not working:', ...broken.map((line) => colors.attention(line)));
  if (off.length > 0) lines.push('', 'Off:', ...off.map((line) => colors.neutral(line)));
  return lines.join('\n');
}

export function testText(results: readonly TestResult[], options: ViewOptions): string {
  const colors = palette(options);
  const lines = results.flatMap(({ channel, state, reason, hint }) => {
    const words = state === 'ok' ? 'ok' : state === 'off' ? `off: ${reason}.` : `failed: ${reason}`;
    const text = clean([words, hint].filter((part) => part !== null).join(' '));
    const wrapped = wrap(text, options.columns, `${channel.padEnd(8)} `, '         ');
    return state === 'failed' ? wrapped.map((line) => colors.attention(line)) : wrapped;
  });
  return lines.join('\n');
}
