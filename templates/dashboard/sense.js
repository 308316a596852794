// The page /sense: polls the API and passes each answer to its panel.

import { byId, command, h, show } from './dom.js';
import { clock, longDay, minutes, plural } from './format.js';
import { follow } from './live.js';
import { showWaiting, waitingIn } from './nav.js';
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

// A day has a page of its own.
const asked =
  new URLSearchParams(location.search).get('day') ?? /^#(\d{4}-\d\d-\d\d)$/.exec(location.hash)?.[1];
if (asked !== undefined) location.replace(`/?day=${encodeURIComponent(asked)}`);

follow(
  {
    today: '/api/sense/today',
    recent: '/api/sense/recent?days=30',
    sources: '/api/sense/sources',
    insight: '/api/sense/insight',
    status: '/api/sense/status',
    sessions: '/api/sessions',
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
    showWaiting(waitingIn(feeds.sessions.data));
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
        from: [today],
        draw() {
          if (today !== undefined) showTime(today);
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
        from: [today, recent],
        draw() {
          if (today !== undefined && recent !== undefined) strip.draw(lastDays(today, recent), today.date);
        },
      },
    ]);
  },
);

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

/** @param {DailyRecord} record */
function showTime(record) {
  showKinds(byId('kinds'), record);
  plot.draw(record);
  showApps(byId('apps'), byId('apps-more'), record);
  showCounts(byId('counts'), record);
}
