// Where time went: applications, which a signed-in page can reclassify, and repositories.

import { isSignedIn, post } from './daemon.js';
import { command, h, show } from './dom.js';
import { minutes, plural, shortDay } from './format.js';
import { fill, head, KINDS } from './kinds.js';

/** @typedef {import('../../src/lib/sense/record').DailyRecord} DailyRecord */

const APP_ROWS = 10;
const REPO_ROWS = 8;

/** @param {DailyRecord} record */
export function isEmpty({ totalMinutes, commits, sessions }) {
  return totalMinutes === 0 && commits.count === 0 && sessions.count === 0;
}

/** @param {Record<string, number> | number[] | undefined} values */
export function sum(values) {
  return Object.values(values ?? {}).reduce((total, value) => total + value, 0);
}

/** @param {Element} place @param {Element} more @param {readonly DailyRecord[]} records */
export function showApps(place, more, records) {
  const apps = appsOf(records);
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
        h('summary', {}, `${rest.length} more · ${minutes(sum(rest.map((app) => app.minutes)))}`),
        appTable(rest, max),
      ),
    apps.length > 0 &&
      !isSignedIn() &&
      h('p', { class: 'muted small' }, 'To change a kind here: ', command('steward open')),
  );
}

/** Adds up the applications of days, longest first. @param {readonly DailyRecord[]} records */
function appsOf(records) {
  /** @type {Map<string, DailyRecord['apps'][number]>} */
  const found = new Map();
  for (const one of records.flatMap(({ apps }) => apps)) {
    const key = `${one.kind} ${one.app}`;
    found.set(key, { ...one, minutes: one.minutes + (found.get(key)?.minutes ?? 0) });
  }
  return [...found.values()].sort((a, b) => b.minutes - a.minutes);
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
          h('td', { class: 'muted' }, isSignedIn() && app.trim() !== '' ? picker(app, kind) : kind),
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

/** @param {string} app @param {string} kind */
function picker(app, kind) {
  return h(
    'select',
    { 'data-app': app, 'data-kind': kind, 'aria-label': `Count ${app} as` },
    KINDS.map((name) => h('option', { selected: name === kind }, name)),
  );
}

/**
 * Reclassifies an application when its kind is changed, and shows which days changed.
 * @param {Element} said @param {() => string | undefined} since the first day to rebuild @param {() => unknown} refresh
 */
export function watchKinds(said, since, refresh) {
  document.addEventListener('change', async ({ target }) => {
    if (!(target instanceof HTMLSelectElement) || target.dataset.app === undefined) return;
    const { app, kind = '' } = target.dataset;
    const { data, problem } = await post('/api/sense/classify', { app, kind: target.value, since: since() });
    said.textContent = problem ?? `${app} counts as ${target.value}. ${rebuilt(data)}`;
    if (problem !== undefined) target.value = kind;
    void refresh();
  });
}

/** @param {import('../../src/lib/sense/roll').Rerolled} result */
function rebuilt({ rolled, kept }) {
  const days = (/** @type {string[]} */ list) =>
    list.length > 4 ? plural(list.length, 'day') : list.map(shortDay).join(', ') || 'no day';
  return `Rebuilt: ${days(rolled)}.${kept.length > 0 ? ` Unchanged, as the event log was deleted: ${days(kept)}.` : ''}`;
}

/** Returns your time and your agents' time by repository, as `steward time`. @param {readonly DailyRecord[]} records */
export function ledgerRows(records) {
  /** @type {Record<string, number[]>} */
  const rows = {};
  const add = (/** @type {string} */ key, /** @type {number[]} */ ...values) =>
    (rows[key] = values.map((value, i) => value + (rows[key]?.[i] ?? 0)));
  for (const { ledger } of records) {
    for (const { repo, otherFolder, minutes: own } of ledger?.attention ?? [])
      add(repo ?? (otherFolder ? 'other folders' : 'unknown'), own, 0, 0, 0);
    for (const { repo, cells } of ledger?.agents ?? [])
      add(repo ?? 'unknown', 0, sum(cells.working), sum(cells.waiting), cells.waiting?.desk ?? 0);
  }
  return Object.entries(rows).sort(([, a], [, b]) => sum(b.slice(0, 2)) - sum(a.slice(0, 2)));
}

/** @param {Element} place @param {readonly DailyRecord[]} records */
export function showLedger(place, records) {
  const rows = ledgerRows(records);
  const table = (/** @type {typeof rows} */ part) =>
    h(
      'table',
      { class: 'figures' },
      head(['repository', 'you', 'agents', 'waiting', 'held up']),
      h(
        'tbody',
        {},
        part.map(([key, values]) =>
          h(
            'tr',
            { 'data-key': key },
            h('th', { scope: 'row' }, key),
            values.map((value) => h('td', {}, value === 0 ? '–' : minutes(value))),
          ),
        ),
      ),
    );
  const rest = rows.slice(REPO_ROWS);
  show(
    place,
    rows.length === 0 ? h('p', { class: 'muted' }, 'Not recorded.') : table(rows.slice(0, REPO_ROWS)),
    rest.length > 0 && h('details', {}, h('summary', {}, `${rest.length} more`), table(rest)),
  );
}
