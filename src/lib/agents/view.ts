import { palette, table, wrap } from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import { fit } from '../platform/terminal/text-width';
import { timeOf } from '../platform/time/time';
import type { CheckReport } from './check';
import type { KnowledgeEntry, KnowledgeResult } from './knowledge';
import type { Options } from './view-route';
import type { SilenceAlert, WatchedSession } from './watchdog';

/** `steward agents check`. */
export function checkText(report: CheckReport, options: Options): string {
  const planned = report.invocations === 1 ? '1 invocation' : `${report.invocations} invocations`;
  if (report.ok) return `${planned}, no rule broken.`;
  const { attention } = palette(options);
  return [
    ...report.breaches.flatMap(({ invocation, rule, message, fix }) => [
      attention(`${invocation === null ? 'together' : `invocation ${invocation}`}: ${rule}`),
      ...wrap(clean(`${message} ${fix}`), options.columns, '  '),
    ]),
    `${planned}, ${report.breaches.length} ${report.breaches.length === 1 ? 'rule' : 'rules'} broken.`,
  ].join('\n');
}

/** `steward agents knowledge search`. */
export function knowledgeText(result: KnowledgeResult, folder: string, options: Options): string {
  const { neutral } = palette(options);
  const { results, total, scanned, skipped } = result;
  const lines = results.flatMap(({ id, title, tags, excerpt }) => {
    const named = [clean(id), ...(id.endsWith(`/${title}`) ? [] : [title]), ...tags.map((tag) => `#${tag}`)];
    const head = fit(named.join('  '), options.columns);
    return excerpt === null ? [head] : [head, neutral(fit(`  ${excerpt}`, options.columns))];
  });
  const rest = total > results.length ? [`${total - results.length} more: --limit shows them.`] : [];
  const none =
    scanned === 0
      ? [`The archive is empty. Its entries are Markdown files in ${clean(folder)}.`]
      : total === 0
        ? [`None of ${scanned} entries has all of that.`]
        : [];
  const left =
    skipped.count === 0
      ? []
      : [
          '',
          `${skipped.count} not read:`,
          ...skipped.files.map(({ file, reason }) =>
            fit(`  ${clean(file)}: ${clean(reason)}`, options.columns),
          ),
        ];
  return [...lines, ...rest, ...none, ...left].join('\n');
}

/** `steward agents knowledge show`: the text as it was written. */
export function entryText(entry: KnowledgeEntry, options: Options): string {
  const { strong, neutral } = palette(options);
  const tags = entry.tags.map((tag) => `#${tag}`).join(' ');
  const body = entry.body.split('\n').map((line) => clean(line.replaceAll('\t', '  ')));
  return [
    strong(clean(entry.title)),
    neutral(`${clean(entry.id)}${tags === '' ? '' : `  ${tags}`}`),
    '',
    ...body,
  ].join('\n');
}

/** `steward agents watch --once`. */
export function watchedText(sessions: readonly WatchedSession[], options: Options): string {
  if (sessions.length === 0) return 'No agents are active.';
  const { attention } = palette(options);
  const rows = sessions.map(({ session, agents, silentSec, lastTool, silent }) => [
    clean(session),
    `${agents} ${agents === 1 ? 'agent' : 'agents'}`,
    `${silentSec} s`,
    [silent ? 'silent' : 'working', ...(lastTool === null ? [] : [`last ${clean(lastTool)}`])].join(' · '),
  ]);
  return table(rows, [{ max: 42 }, {}, { align: 'right' }])
    .split('\n')
    .map((line, index) =>
      sessions[index]?.silent === true ? attention(fit(line, options.columns)) : fit(line, options.columns),
    )
    .join('\n');
}

/** One alert of `steward agents watch`, with the time of day in the zone. */
export function alertText(alert: SilenceAlert, options: Options & { zone: string }): string {
  const at = timeOf(Date.parse(alert.ts), options.zone);
  const last = alert.lastTool === null ? '' : ` The last was ${alert.lastTool}.`;
  return wrap(clean(`${alert.message}${last}`), options.columns, `${at}  `, '       ').join('\n');
}
