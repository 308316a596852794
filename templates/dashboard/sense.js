// The page /sense: polls the API and passes each answer to its panel.

import { byId, command, h, show, watchCopies } from './dom.js';
import { clock, longDay, minutes, plural } from './format.js';
import { follow } from './live.js';
import { drawPanels } from './notes.js';
import { daysStrip, lastDays } from './sense-days.js';
import { showFlow } from './sense-flow.js';
import { hoursPlot } from './sense-hours.js';
import { nextCapture, showCadence, showSources } from './sense-sources.js';
import { isEmpty, showApps, showCounts, showKinds } from './sense-time.js';

/** @typedef {import('../../src/lib/sense/record').DailyRecord} DailyRecord */
/** @typedef {import('../../src/lib/sense/source').SenseStatus} SenseStatus */

const plot = hoursPlot(byId('hours'), byId('hour'), byId('hours-table'));
const strip = daysStrip(byId('days'), byId('day'), byId('days-table'));

/** The record in the time panel, and the requested day if it has no record. @type {unknown[]} */
let shown = [];

const { redraw } = follow(
  {
    today: '/api/sense/today',
    recent: '/api/sense/recent?days=30',
    sources: '/api/sense/sources',
    insight: '/api/sense/insight',
    status: '/api/sense/status',
  },
  (feeds) => {
    const now = Date.now();
    // Relative times change every minute.
    const minute = Math.floor(now / 60_000);
    const today = /** @type {DailyRecord | undefined} */ (feeds.today.data);
    const recent = /** @type {DailyRecord[] | undefined} */ (feeds.recent.data);
    const sources = /** @type {SenseStatus['sources'] | undefined} */ (feeds.sources.data);
    const insight = /** @type {import('../../src/lib/sense/insight-reads').Insight | undefined} */ (
      feeds.insight.data
    );
    const status = /** @type {SenseStatus | undefined} */ (feeds.status.data);
    const zone = today?.timezone;
    drawPanels(byId('notes'), [
      {
        name: 'Today',
        feeds: [feeds.today],
        from: [today, status, minute],
        draw() {
          if (today !== undefined) showFacts(today, status, now);
        },
      },
      {
        name: 'Time and creation',
        feeds: [feeds.today],
        from: [today, recent, location.hash],
        draw() {
          if (today !== undefined) showTime(today, recent);
        },
      },
      {
        name: 'Recent activity',
        feeds: [feeds.insight],
        from: [insight, zone, minute],
        draw() {
          if (insight !== undefined) showFlow(byId('flow'), insight, zone, now);
        },
      },
      {
        name: 'Sources',
        feeds: [feeds.sources, feeds.status],
        from: [sources, status, zone, minute],
        draw() {
          if (status !== undefined) showCadence(byId('cadence'), status, zone, now);
          if (sources !== undefined) showSources(byId('sources'), sources, now);
        },
      },
      {
        name: 'The last 30 days',
        feeds: [feeds.recent],
        from: [today, recent, location.hash],
        draw() {
          if (today !== undefined && recent !== undefined)
            strip.draw(lastDays(today, recent), shownDay(today, recent).date);
        },
      },
    ]);
  },
);
// The URL's fragment selects the day.
addEventListener('hashchange', redraw);
watchCopies();

/** @param {DailyRecord} record @param {SenseStatus | undefined} status @param {number} now */
function showFacts(record, status, now) {
  const day = `${longDay(record.date)}, ${record.timezone}: `;
  if (isEmpty(record)) return show(byId('facts'), `${day}no captures today. `, whatNext(record, status, now));
  show(
    byId('facts'),
    day,
    h('b', {}, minutes(record.totalMinutes)),
    ' tracked so far, ',
    h('b', {}, minutes(record.creationMinutes)),
    ' creation; ',
    h('b', {}, plural(record.commits.count, 'commit')),
    ', ',
    h('b', {}, plural(record.sessions.count, 'session')),
    '.',
  );
}

/** @param {DailyRecord} record @param {SenseStatus | undefined} status @param {number} now */
function whatNext({ timezone }, status, now) {
  // The sources panel shows that capture is off.
  if (status === undefined || !status.enabled) return '';
  const next = nextCapture(status, now);
  if (next !== undefined) return `Next capture at ${clock(next, timezone)}.`;
  return h('span', {}, 'Capture now: ', command('steward sense capture'));
}

/** Returns the record of the day in the URL, else today's. @param {DailyRecord} today @param {readonly DailyRecord[]} [recent] */
function shownDay(today, recent) {
  if (recent === undefined || location.hash === '') return today;
  return lastDays(today, recent).find(({ day }) => `#${day}` === location.hash)?.record ?? today;
}

/** @param {DailyRecord} today @param {readonly DailyRecord[]} [recent] */
function showTime(today, recent) {
  const record = shownDay(today, recent);
  const asked = location.hash.slice(1);
  const missing = recent !== undefined && asked !== '' && record.date !== asked ? asked : '';
  if (record === shown[0] && missing === shown[1]) return;
  const isToday = record.date === today.date;
  show(
    byId('time-day'),
    isToday
      ? `${missing === '' ? '' : `No record of ${missing.slice(0, 40)} in the last 30 days. `}today, so far`
      : `${longDay(record.date)}, ${record.timezone}${record.final ? '' : ', incomplete'}`,
    !isToday && h('a', { href: '#', class: 'back' }, 'back to today'),
  );
  showKinds(byId('kinds'), record);
  plot.draw(record);
  showApps(byId('apps'), byId('apps-more'), record);
  showCounts(byId('counts'), record);
  shown = [record, missing];
}
