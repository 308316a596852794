// The page /sense: a week, and the 30 days up to the week's end. The week ends today, or on the day in `?to=`.

import { isSignedIn } from './daemon.js';
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
/** @type {string | undefined} */
let firstDay;

const { refresh } = follow(
  {
    today: '/api/sense/today',
    recent: `/api/sense/recent?days=30${asked === null || isInvalid ? '' : `&to=${asked}`}`,
  },
  (feeds) => {
    const today = /** @type {DailyRecord | undefined} */ (feeds.today.data);
    const recent = /** @type {DailyRecord[] | undefined} */ (feeds.recent.data);
    drawPanels([
      {
        name: 'Days',
        feeds: [feeds.today, feeds.recent],
        from: [today, recent, isSignedIn()],
        draw() {
          if (isInvalid) {
            show(byId('day-title'), noDate(asked));
            show(byId('day-links'), h('a', { href: '/' }, 'Today'), h('a', { href: '/sense' }, 'This week'));
            show(byId('facts'));
          } else if (today !== undefined && recent !== undefined) draw(today, recent);
        },
      },
    ]);
    return byId('day-title').textContent;
  },
);
onTurn('/sense');
watchKinds(byId('classified'), () => firstDay, refresh);

/** @param {DailyRecord} today @param {DailyRecord[]} recent */
function draw(today, recent) {
  const to = asked !== null && asked < today.date ? asked : today.date;
  // Put today's live record last, so that it replaces a stored one.
  const days = daysUpTo(to, 30, [...recent, today]);
  const week = days.slice(0, 7);
  const known = week.flatMap(({ record }) => record ?? []);
  const isNew = recent.length === 0 && isEmpty(today);
  firstDay = week[6]?.day;
  showHead(to, today.date);
  const { tracked, gap } = showWeek(byId('days-table'), week);
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
  showDays(byId('days'), days);
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
