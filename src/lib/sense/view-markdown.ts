import { bar, longDay, minutes, plural } from '../platform/terminal/format';
import { APP_KINDS } from '../time/classify';
import { timeRows } from '../time/ledger/rows';
import { agentFacts } from '../time/ledger/view';
import { isEmptyRecord, type DailyRecord } from '../time/record';
import { nameOf, activeHours } from './view';

const BAR_COLUMNS = 24;

/** Formats the record as Markdown. The front matter has the exact figures. */
export function recordMarkdown(record: DailyRecord): string {
  const { commits, sessions, final } = record;
  const nothing = final ? 'Nothing was captured on this day.' : 'Nothing captured yet.';
  const repos = commits.repos.map((row) => `- ${escape(row.repo)}: ${row.commits}`);
  const items = sessions.items.map((row) => `- ${escape(row.session)}: ${plural(row.events, 'event')}`);
  const sections = isEmptyRecord(record)
    ? [nothing]
    : [
        facts(record),
        section('Applications', apps(record)),
        section('Time', time(record)),
        section('Hours', hours(record)),
        section('Commits', repos),
        section('Sessions', items),
      ];
  const page = [frontMatter(record), `# ${longDay(record.date)}`, ...sections];
  return `${page.filter((part) => part !== '').join('\n\n')}\n`;
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : [`## ${title}\n`, ...lines].join('\n');
}

function frontMatter(record: DailyRecord): string {
  const { commits, sessions, narrative, goalTags } = record;
  const figures = Object.entries(record).filter(([, value]) => typeof value !== 'object');
  const counts = { commits: commits.count, sessions: sessions.count, narrative, goalTags };
  const fields = { ...Object.fromEntries(figures), ...counts };
  // Write the values as JSON, which is valid YAML.
  const lines = Object.entries(fields).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return ['---', ...lines, '---'].join('\n');
}

function facts({ timezone, final, backfilled, totalMinutes, commits, sessions, ...time }: DailyRecord) {
  const kinds = APP_KINDS.map((kind) => `${minutes(time[`${kind}Minutes`])} ${kind}`).join(', ');
  const counts = `${plural(commits.count, 'commit')}, ${plural(sessions.count, 'session')}`;
  if (totalMinutes === 0)
    return `${backfilled === true ? 'Application time not recorded' : 'No application time captured'}. ${counts}.`;
  return `**${minutes(totalMinutes)}** tracked${final ? '' : ' so far'} in ${escape(timezone)}: ${kinds}. ${counts}.`;
}

function apps({ apps: rows }: DailyRecord): string[] {
  if (rows.length === 0) return [];
  const max = Math.max(...rows.map((app) => app.minutes));
  return [
    '| Application | Kind | Time | Minutes | |',
    '| --- | --- | ---: | ---: | --- |',
    ...rows.map(({ app, kind, minutes: time }) => {
      const drawn = bar(time, max, BAR_COLUMNS);
      return `| ${escape(app)} | ${kind} | ${minutes(time)} | ${time.toFixed(1)} | ${drawn} |`;
    }),
  ];
}

function time({ ledger }: DailyRecord): string[] {
  const rows = timeRows([ledger], 'repo', NO_NAMES);
  if (rows.every(({ key }) => key === 'unknown')) return [];
  const cell = (value: number): string => (value === 0 ? '' : minutes(value));
  return [
    '| Repository | You | Working | Waiting | Held up |',
    '| --- | ---: | ---: | ---: | ---: |',
    ...rows.map((row) => {
      const cells = [row.minutes, row.working, row.waiting, row.heldUp].map(cell);
      return `| ${[escape(row.key), ...cells].join(' | ')} |`;
    }),
    ...agentFacts([ledger]).flatMap((fact) => ['', fact]),
  ];
}

const NO_NAMES = { session: (id: string) => id, issue: () => undefined, goal: () => undefined };

function hours(record: DailyRecord): string[] {
  const rows = activeHours(record);
  if (rows.length === 0) return [];
  return [
    '| Hour | Creation | Consumption | Neutral | |',
    '| --- | ---: | ---: | ---: | --- |',
    ...rows.map((hour) => {
      const time = APP_KINDS.map((kind) => hour[kind]);
      const total = time.reduce((sum, value) => sum + value, 0);
      const cells = time.map((value) => value.toFixed(1)).join(' | ');
      return `| ${hourName(record, hour.start)} | ${cells} | ${bar(total, 60, BAR_COLUMNS)} |`;
    }),
  ];
}

/** Formats an hour as `02:00`, with the UTC offset if the hour occurs twice. */
function hourName(record: DailyRecord, start: string): string {
  const clock = start.slice(11, 16);
  const isRepeated = record.hours.filter((hour) => hour.start.slice(11, 16) === clock).length > 1;
  return isRepeated ? `${clock} (${start.slice(19)})` : clock;
}

function escape(text: string): string {
  return nameOf(text)
    .replace(/[\\`*_[\]{}()#+!|~$-]/g, '\\$&')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/(\w):\/\//g, '$1:&#47;&#47;')
    .replace(/^(\d+)\./, '$1\\.');
}
