import { bar, longDay, minutes } from '../platform/terminal/format';
import { plural } from '../platform/terminal/plural';
import { isEmpty, nameOf, seenHours } from './view-parts';
import type { DailyRecord } from './record';

const BAR_COLUMNS = 24;

/** The day as a Markdown page that shows what its JSON holds; the exact figures stand in the front matter. */
export function recordMarkdown(record: DailyRecord): string {
  const sections = isEmpty(record)
    ? [record.final ? 'Nothing was captured on this day.' : 'Nothing captured yet.']
    : [facts(record), apps(record), hours(record), commits(record), sessions(record)];
  const page = [frontMatter(record), `# ${longDay(record.date)}`, ...sections];
  return `${page.filter((part) => part !== '').join('\n\n')}\n`;
}

function frontMatter(record: DailyRecord): string {
  const { date, timezone, version, generatedAt, final, narrative } = record;
  const { totalMinutes, creationMinutes, consumptionMinutes, neutralMinutes } = record;
  const fields = {
    ...{ date, timezone, version, generatedAt, final },
    ...{ totalMinutes, creationMinutes, consumptionMinutes, neutralMinutes },
    ...{ commits: record.commits.count, sessions: record.sessions.count },
    ...{ narrative, goalTags: record.goalTags },
  };
  // A JSON value is a YAML value.
  const lines = Object.entries(fields).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return ['---', ...lines, '---'].join('\n');
}

function facts(record: DailyRecord): string {
  const kinds = [
    `${minutes(record.creationMinutes)} creation`,
    `${minutes(record.consumptionMinutes)} consumption`,
    `${minutes(record.neutralMinutes)} neutral`,
  ].join(', ');
  const soFar = record.final ? '' : ' so far';
  const counts = `${plural(record.commits.count, 'commit')}, ${plural(record.sessions.count, 'session')}`;
  if (record.totalMinutes === 0) return `No application time captured. ${counts}.`;
  return `**${minutes(record.totalMinutes)}** seen${soFar} in ${escape(record.timezone)}: ${kinds}. ${counts}.`;
}

function apps(record: DailyRecord): string {
  if (record.apps.length === 0) return '';
  const max = Math.max(...record.apps.map((app) => app.minutes));
  return [
    '## Applications\n',
    '| Application | Kind | Time | Minutes | |',
    '| --- | --- | ---: | ---: | --- |',
    ...record.apps.map(
      (app) =>
        `| ${escape(app.app)} | ${app.kind} | ${minutes(app.minutes)} | ${app.minutes.toFixed(1)} | ${bar(app.minutes, max, BAR_COLUMNS)} |`,
    ),
  ].join('\n');
}

function hours(record: DailyRecord): string {
  const rows = seenHours(record);
  if (rows.length === 0) return '';
  return [
    '## Hours\n',
    '| Hour | Creation | Consumption | Neutral | |',
    '| --- | ---: | ---: | ---: | --- |',
    ...rows.map((hour) => {
      const time = [hour.creation, hour.consumption, hour.neutral];
      const seen = time.reduce((sum, value) => sum + value, 0);
      const cells = time.map((value) => value.toFixed(1)).join(' | ');
      return `| ${hourName(record, hour.start)} | ${cells} | ${bar(seen, 60, BAR_COLUMNS)} |`;
    }),
  ].join('\n');
}

/** `02:00`, with its offset in a day that has this hour twice. */
function hourName(record: DailyRecord, start: string): string {
  const clock = start.slice(11, 16);
  const isRepeated = record.hours.filter((hour) => hour.start.slice(11, 16) === clock).length > 1;
  return isRepeated ? `${clock} (${start.slice(19)})` : clock;
}

function commits(record: DailyRecord): string {
  if (record.commits.count === 0) return '';
  return ['## Commits\n', ...record.commits.repos.map((row) => `- ${escape(row.repo)}: ${row.commits}`)].join(
    '\n',
  );
}

function sessions(record: DailyRecord): string {
  if (record.sessions.count === 0) return '';
  const rows = record.sessions.items.map((row) => `- ${escape(row.session)}: ${plural(row.events, 'event')}`);
  return ['## Sessions\n', ...rows].join('\n');
}

/** A name from elsewhere as plain text: what Markdown or HTML would read as more is escaped. */
function escape(text: string): string {
  return nameOf(text)
    .replace(/[\\`*_[\]{}()#+!|~$-]/g, '\\$&')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/(\w):\/\//g, '$1:&#47;&#47;')
    .replace(/^(\d+)\./, '$1\\.');
}
