// A day: kinds, applications, commits and sessions, with text for screen readers.

import { h, show } from './dom.js';
import { minutes, plural } from './format.js';
import { byKind, fill, KINDS } from './kinds.js';

/** @typedef {import('../../src/lib/sense/record').DailyRecord} DailyRecord */

const APP_ROWS = 10;
const REPO_ROWS = 4;

/** @param {DailyRecord} record */
export function isEmpty({ totalMinutes, commits, sessions }) {
  return totalMinutes === 0 && commits.count === 0 && sessions.count === 0;
}

/** @param {Element} place @param {DailyRecord} record */
export function showKinds(place, record) {
  const time = byKind(record);
  show(
    place,
    KINDS.map((kind) =>
      h(
        'li',
        {},
        h(
          'svg',
          { class: 'swatch', width: 16, height: 16, 'aria-hidden': 'true' },
          h('rect', { width: 16, height: 16, fill: fill(kind) }),
        ),
        h('span', {}, kind),
        h('b', {}, minutes(time[kind])),
      ),
    ),
  );
}

/** @param {Element} place @param {Element} more @param {DailyRecord} record */
export function showApps(place, more, record) {
  const { apps } = record;
  const max = apps[0]?.minutes ?? 0;
  // Don't fold a single row.
  const shown = apps.length <= APP_ROWS + 1 ? apps : apps.slice(0, APP_ROWS);
  const rest = apps.slice(shown.length);
  show(place, shown.length === 0 ? h('p', { class: 'muted' }, 'No applications.') : appTable(shown, max));
  show(
    more,
    rest.length > 0 &&
      h(
        'details',
        {},
        h('summary', {}, `${rest.length} more · ${minutes(rest.reduce((sum, app) => sum + app.minutes, 0))}`),
        appTable(rest, max),
      ),
  );
}

/** @param {DailyRecord['apps']} apps @param {number} max */
function appTable(apps, max) {
  return h(
    'table',
    { class: 'apps' },
    // The headings are for screen readers; they also set the column widths.
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        ['application', 'kind', 'time', 'bar'].map((name) =>
          h('th', { scope: 'col', class: name }, h('span', { class: 'unseen' }, name)),
        ),
      ),
    ),
    h(
      'tbody',
      {},
      apps.map(({ app, kind, minutes: time }) =>
        h(
          'tr',
          { 'data-key': `${kind} ${app}` },
          h('th', { scope: 'row', title: app }, app.trim() === '' ? 'unknown' : app),
          h('td', { class: 'muted' }, kind),
          h('td', { class: 'figure' }, minutes(time)),
          h(
            'td',
            {},
            h(
              'svg',
              { height: 12, 'aria-hidden': 'true' },
              // The minimum width keeps small values visible.
              time > 0 &&
                h('rect', { width: `${Math.max(0.7, (time / max) * 100)}%`, height: 12, fill: fill(kind) }),
            ),
          ),
        ),
      ),
    ),
  );
}

/** @param {Element} place @param {DailyRecord} record */
export function showCounts(place, { commits, sessions, ledger }) {
  show(
    place,
    h('dt', {}, 'commits'),
    h(
      'dd',
      {},
      h('b', {}, String(commits.count)),
      commits.repos.length > 0 &&
        ` · ${commits.repos.map(({ repo, commits: n }) => `${repo} ${n}`).join(' · ')}`,
    ),
    h('dt', {}, 'assistant sessions'),
    h(
      'dd',
      {},
      h('b', {}, String(sessions.count)),
      sessions.count > 0 &&
        ` · ${plural(
          sessions.items.reduce((sum, { events }) => sum + events, 0),
          'event',
        )}`,
    ),
    ledger !== undefined && ledgerCounts(ledger),
  );
}

/**
 * Your time by repository, and what agents did meanwhile. `steward time` shows the rest.
 * @param {NonNullable<DailyRecord['ledger']>} ledger
 */
function ledgerCounts({ attention, cells, heldUpMinutes }) {
  /** @type {Map<string, number>} */
  const repos = new Map();
  for (const { repo, minutes: time } of attention) {
    if (repo !== null) repos.set(repo, (repos.get(repo) ?? 0) + time);
  }
  const named = [...repos].sort(([, a], [, b]) => b - a).slice(0, REPO_ROWS);
  const total = (/** @type {Record<string, number> | undefined} */ row) =>
    Object.values(row ?? {}).reduce((sum, value) => sum + value, 0);
  const [working, waiting] = [total(cells.working), total(cells.waiting)];
  return [
    named.length > 0 && h('dt', {}, 'your time'),
    named.length > 0 && h('dd', {}, named.map(([repo, time]) => `${repo} ${minutes(time)}`).join(' · ')),
    working + waiting > 0 && h('dt', {}, 'agents'),
    working + waiting > 0 &&
      h(
        'dd',
        {},
        `working ${minutes(working)}`,
        waiting > 0 && ` · waiting ${minutes(waiting)}`,
        heldUpMinutes > 0 && ` · held up ${minutes(heldUpMinutes)}`,
      ),
  ];
}
