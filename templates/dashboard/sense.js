// The page /sense: a week, and the 30 days up to the week's end. The week ends today, or on the day in `?to=`.

import { isSignedIn } from './daemon.js';
import { showCompared, totalsOf } from './compare.js';
import { byId, command, h, show } from './dom.js';
import { daysBefore, isDay, minutes, noDate, shortDay } from './format.js';
import { onTurn } from './keys.js';
import { daysUpTo, showDays } from './kinds.js';
import { follow } from './live.js';
import { drawPanels } from './notes.js';
import { isEmpty, showApps, showLedger, watchKinds } from './sense-time.js';
import { showWeek } from './sense-week.js';

/** @typedef {import('./kinds.js').DailyRecord} DailyRecord */

const asked = new URLSearchParams(location.search).get('to');
const isInvalid = asked !== null && !isDay(asked);
const to = asked === null || isInvalid ? '' : `&to=${asked}`;
/** @type {string | undefined} */
let firstDay;

const { refresh } = follow(
  {
    today: '/api/sense/today',
    recent: `/api/sense/recent?days=30${to}`,
    status: '/api/sense/status',
    totals: `/api/sense/recent?days=150&fields=totals${to}`,
  },
  (feeds) => {
    const today = /** @type {DailyRecord | undefined} */ (feeds.today.data);
    const recent = /** @type {DailyRecord[] | undefined} */ (feeds.recent.data);
    const totals = /** @type {import('./compare.js').Totals[] | undefined} */ (feeds.totals.data);
    const status = /** @type {import('../../src/lib/sense/read').SenseStatus | undefined} */ (
      feeds.status.data
    );
    const damaged = status?.damagedDays ?? [];
    const lost = status?.lostDays ?? [];
    drawPanels([
      {
        name: 'Days',
        feeds: [feeds.today, feeds.recent],
        from: [today, recent, damaged.join(), lost.join(), isSignedIn()],
        draw() {
          if (isInvalid) {
            show(byId('day-title'), noDate(asked));
            show(byId('day-links'), h('a', { href: '/' }, 'Today'), h('a', { href: '/sense' }, 'This week'));
            show(byId('facts'));
          } else if (today !== undefined && recent !== undefined) draw(today, recent, damaged, lost);
        },
      },
      {
        name: 'Compared',
        feeds: [feeds.totals],
        from: [today, totals],
        draw() {
          if (today !== undefined && totals !== undefined) compare(today, totals);
        },
      },
    ]);
    return byId('day-title').textContent;
  },
  ['totals'],
);
onTurn('/sense');
watchKinds(byId('classified'), () => firstDay, refresh);

/** Shows the week and the 30 days beside the mean of the four before. @param {DailyRecord} today @param {import('./compare.js').Totals[]} totals */
function compare(today, totals) {
  const all = [...totals, totalsOf(today)];
  const days = lastOf(today);
  showCompared(byId('weeks'), all, days, 7, ['these 7 days', 'mean of the 4 weeks before']);
  showCompared(byId('months'), all, days, 30, ['these 30 days', 'mean of the 4 times 30 days before']);
}

/** Returns the last day of the week. @param {DailyRecord} today */
function lastOf(today) {
  return asked !== null && asked < today.date ? asked : today.date;
}

/**
 * @param {DailyRecord} today @param {DailyRecord[]} recent @param {readonly string[]} damaged
 * @param {readonly string[]} lost
 */
function draw(today, recent, damaged, lost) {
  const to = lastOf(today);
  // Put today's live record last, so that it replaces a stored one.
  const days = daysUpTo(to, 30, [...recent, today]);
  const week = days.slice(0, 7);
  const known = week.flatMap(({ record }) => record ?? []);
  const isNew = recent.length === 0 && isEmpty(today);
  firstDay = week[6]?.day;
  // The comparison comes later, and gets its room only where it can have rows.
  byId('week').classList.toggle('young', !days.slice(13).some(({ record }) => record));
  showHead(to, today.date);
  const { tracked, gap } = showWeek(byId('days-table'), week, damaged, lost);
  const share = Math.round((gap / (tracked + gap || 1)) * 100);
  byId('week').hidden = isNew;
  show(byId('empty'), isNew && h('p', 'Start capturing: ', command('steward up')));
  show(
    byId('facts'),
    isNew
      ? 'Nothing recorded yet.'
      : [
          h('span', h('b.large', minutes(tracked)), ' tracked'),
          h('span', h('b', `${share} %`), ' away or not recorded'),
        ],
  );
  showDays(byId('days'), days, damaged);
  showApps(byId('apps'), known);
  showLedger(byId('ledger'), known);
}

/** @param {string} to @param {string} today */
function showHead(to, today) {
  const range = (/** @type {string} */ last) => `${shortDay(daysBefore(last, 6))} – ${shortDay(last)}`;
  const link = (/** @type {string} */ day, /** @type {string} */ rel, /** @type {string} */ text) =>
    h('a', { href: day < today ? `/sense?to=${day}` : '/sense', rel, 'data-key': rel }, text);
  const after = daysBefore(to, -7);
  show(byId('day-title'), `${range(to)} ${to.slice(0, 4)}`);
  show(
    byId('day-links'),
    link(daysBefore(to, 7), 'prev', `‹ ${range(daysBefore(to, 7))}`),
    to < today && link(after, 'next', `${range(after < today ? after : today)} ›`),
    after < today && link(today, 'up', 'This week'),
  );
}
