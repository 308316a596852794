import { longDay, table, wrap } from '../platform/terminal/format';
import { plural } from '../platform/terminal/plural';
import { clean } from '../platform/terminal/terminal';
import { timeOf } from '../platform/time/time';
import { parseIso } from '../platform/time/clock';
import type { CaptureResult } from './capture';
import type { PurgeResult } from './purge';
import type { Rerolled } from './roll';

/** `sense capture`: what was stored, a line a source. */
export function captureText(result: CaptureResult, options: { timezone: string; columns: number }): string {
  if (!result.captured) {
    return 'Nothing was captured: sense.enabled is false. "steward config set sense.enabled true" switches it on.';
  }
  const at = timeOf(parseIso(result.ts) ?? 0, options.timezone);
  const rows = table(
    result.sources.map(({ id, state, events }) => [`  ${id}`, state, plural(events, 'event')]),
  ).split('\n');
  const lines = result.sources.flatMap(({ reason }, i) => [
    rows[i] ?? '',
    ...(reason === undefined ? [] : wrap(clean(reason), options.columns, '    ')),
  ]);
  return [
    `Captured at ${at}: ${plural(result.events, 'event')}`,
    ...(rows.length === 0 ? ['  every source is switched off'] : lines),
    ...(result.rolled.length === 0 ? [] : [`Recorded ${result.rolled.join(', ')}`]),
    ...(result.pruned.length === 0 ? [] : [`Raw logs discarded of ${result.pruned.join(', ')}`]),
  ].join('\n');
}

/** `sense classify set`: the rule, the records that follow it, and those that cannot. */
export function classifiedText(result: Rerolled & { app: string; kind: string; file: string }): string {
  const { app, kind, file, rolled, kept } = result;
  return [
    `${clean(app)} is ${kind} from now on, by ${file}`,
    ...(rolled.length === 0 ? [] : [`Rolled again: ${rolled.join(', ')}`]),
    ...(kept.length === 0 ? [] : [`Not rolled again, the raw log is discarded: ${kept.join(', ')}`]),
  ].join('\n');
}

/** `sense purge`: what was removed, or would be. */
export function purgeText(result: PurgeResult): string {
  const { dryRun, events, logs, rebuilt, removed, kept, insights } = result;
  const days = (names: readonly string[]): string => names.join(', ');
  const lines = [
    ...(logs.length === 0 ? [] : [`${plural(events, 'event')} from the raw logs of ${days(logs)}`]),
    ...(rebuilt.length === 0 ? [] : [`records built again: ${days(rebuilt)}`]),
    ...(removed.length === 0 ? [] : [`records removed: ${days(removed)}`]),
    ...(insights.length === 0 ? [] : [`content-type reads removed: ${days(insights)}`]),
    ...(kept.length === 0
      ? []
      : [`records that still name it (their raw log is discarded; --records removes them): ${days(kept)}`]),
  ];
  const range = [
    ...(result.day === null ? [] : [`only ${longDay(result.day)}`]),
    ...(result.before === null ? [] : [`before ${longDay(result.before)}`]),
  ].join(', ');
  const when = range === '' ? '' : ` (${range})`;
  if (lines.length === 0) return `Nothing stored matches${when}.`;
  return [`${dryRun ? 'Would remove' : 'Removed'}${when}:`, ...lines.map((line) => `  ${line}`)].join('\n');
}
