// Time by application and by repository. A signed-in page can reclassify applications.

import { isSignedIn, post } from './daemon.js';
import { around, command, folded, h, hint, show } from './dom.js';
import { minutes, plural, shortDay } from './format.js';
import { fill, head, KINDS } from './kinds.js';

/** @typedef {import('../../src/lib/time/record').RecordDocument} DailyRecord */

const ROWS = 10;
/** Time that belongs to no repository, as `steward time` names it. */
const OUTSIDE = 'unknown';
/** The columns of the agents' time. */
const AGENTS = ['agents working', 'waiting', 'held up'];
/** Time in folders that are not watched. */
const OTHER = 'other folders';

/** @param {DailyRecord} record */
export function isEmpty({ totalMinutes, commits, sessions }) {
  return !totalMinutes && commits.count === 0 && sessions.count === 0;
}

/** @param {Record<string, number> | number[] | undefined} values */
export function sum(values) {
  return Object.values(values ?? {}).reduce((total, value) => total + value, 0);
}

/** @param {Element} place @param {readonly DailyRecord[]} records @param {Element} [none] what to show if there are none */
export function showApps(place, records, none) {
  const apps = appsOf(records);
  if (apps.length === 0)
    return show(place, none ?? hint('No applications were recorded. To capture, run:', 'steward up'));
  show(
    place,
    ...folded(apps, ROWS, (part) => appTable(part, sum(apps.map((app) => app.total)))),
    !isSignedIn() && h('p.muted.small', 'To edit kinds, run: ', command('steward open')),
  );
  // A list that the user has changed ignores the attribute `selected`.
  for (const list of place.querySelectorAll('select'))
    if (list !== open) list.value = list.dataset.kind ?? '';
}

/** The kinds that the user has chosen on this page, by application. @type {Map<string, string>} */
const chosen = new Map();

/**
 * Adds up each application's time by kind over several days, longest first. An application is one row, whatever its
 * kinds: days that can't be rebuilt, and those of other machines, keep theirs.
 * @param {readonly DailyRecord[]} records
 */
function appsOf(records) {
  /** @type {Map<string, { app: string, total: number, kinds: Map<import('./kinds.js').Kind, number> }>} */
  const found = new Map();
  for (const { app, kind, minutes: time } of records.flatMap(({ apps }) => apps)) {
    const one = found.get(app) ?? { app, total: 0, kinds: new Map() };
    one.total += time;
    one.kinds.set(kind, (one.kinds.get(kind) ?? 0) + time);
    found.set(app, one);
  }
  return [...found.values()].sort((a, b) => b.total - a.total || (a.app < b.app ? -1 : 1));
}

/** @param {ReturnType<typeof appsOf>} apps @param {number} total */
function appTable(apps, total) {
  return h(
    'table',
    { class: 'apps' },
    head(['application', 'kind', 'time', 'share']),
    h(
      'tbody',
      apps.map(({ app, kinds, total: time }) => {
        const [main = 'neutral', ...others] = [...kinds.keys()].sort(
          (a, b) =>
            Number(chosen.get(app) === b) - Number(chosen.get(app) === a) ||
            (kinds.get(b) ?? 0) - (kinds.get(a) ?? 0),
        );
        return h(
          'tr',
          { 'data-key': app },
          h('th', { scope: 'row', title: app }, app.trim() === '' ? 'unknown' : siteFirst(app)),
          h(
            'td.muted',
            isSignedIn() && app.trim() !== '' ? picker(app, main) : main,
            others.map((kind) => h('span.part', `${kind} ${minutes(kinds.get(kind) ?? 0)}`)),
          ),
          h('td.figure', minutes(time)),
          h('td', bars([main, ...others].map((kind) => [kind, (kinds.get(kind) ?? 0) / total]))),
        );
      }),
    ),
  );
}

/** Returns a bar with a part for each kind. @param {(readonly [import('./kinds.js').Kind, number])[]} parts */
function bars(parts) {
  let x = 0;
  return h(
    'svg',
    { height: 12, 'aria-hidden': 'true' },
    parts.map(([kind, part]) => {
      const from = x;
      const width = part > 0 ? Math.max(0.7, part * 100) : 0;
      x += width;
      return h('rect', { x: `${from}%`, width: `${width}%`, height: 12, fill: fill(kind) });
    }),
  );
}

/** Names the site before the browser, because long names are cut at their end. @param {string} app */
function siteFirst(app) {
  return app.replace(/^(.+): (other sites|[a-z0-9-]+(?:\.[a-z0-9-]+)+)$/, '$2 · $1');
}

/** @param {string} app @param {string} kind */
function picker(app, kind) {
  return h(
    'select',
    { 'data-app': app, 'data-kind': kind, 'aria-label': `Kind of ${app}` },
    KINDS.map((name) => h('option', { selected: name === kind }, name)),
  );
}

/** How long a kind chosen by keyboard may still change before it is applied. */
const PAUSE_MS = 1000;
/** The list whose choice hasn't been applied yet. @type {HTMLSelectElement | undefined} */
let open;

/**
 * Reclassifies an application when the user changes its kind, then shows which days changed. Arrow keys change a list at
 * each press, so a choice by keyboard is applied after a pause, by Enter, or when the focus leaves the list.
 * @param {Element} place @param {() => string | undefined} since the first day to rebuild @param {() => unknown} refresh
 */
export function watchKinds(place, since, refresh) {
  let isTyped = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const apply = async () => {
    clearTimeout(timer);
    const [list, value = ''] = [open, open?.value];
    const { app, kind = '' } = list?.dataset ?? {};
    open = undefined;
    if (list === undefined || app === undefined || value === kind) return;
    const { data, problem } = await post('/api/sense/classify', { app, kind: value, since: since() });
    if (problem === undefined) chosen.set(app, value);
    const undo = h('button', { 'data-app': app, 'data-kind': kind }, 'Undo');
    show(place, problem ?? [`${app} is now ${value}. ${rebuilt(data)} `, undo]);
    if (problem !== undefined && list !== open) list.value = kind;
    await refresh();
  };
  place.addEventListener('click', async (event) => {
    const { app, kind } = around(event, '[data-kind]')?.dataset ?? {};
    if (app === undefined || kind === undefined) return;
    const { problem } = await post('/api/sense/classify', { app, kind, since: since() });
    if (problem === undefined) chosen.set(app, kind);
    // The button goes, so the focus moves back to the list.
    const list =
      place.contains(document.activeElement) &&
      document.querySelector(`select[data-app="${CSS.escape(app)}"]`);
    show(place, problem ?? `Undone: ${app} is ${kind} again.`);
    if (list instanceof HTMLElement) list.focus({ preventScroll: true });
    await refresh();
  });
  document.addEventListener('pointerdown', () => (isTyped = false));
  document.addEventListener('keydown', ({ key }) => {
    isTyped = key !== 'Enter';
    if (!isTyped) void apply();
  });
  document.addEventListener('focusout', apply);
  document.addEventListener('change', ({ target }) => {
    if (!(target instanceof HTMLSelectElement) || target.dataset.app === undefined) return;
    open = target;
    clearTimeout(timer);
    if (isTyped) timer = setTimeout(apply, PAUSE_MS);
    else void apply();
  });
}

/** @param {import('../../src/lib/sense/roll').Rerolled} result */
function rebuilt({ rolled, kept }) {
  const say = (/** @type {string} */ what, /** @type {string[]} */ list) =>
    list.length > 0 &&
    `${what}: ${list.length > 4 ? plural(list.length, 'day') : list.map(shortDay).join(', ')}.`;
  return [say('Rebuilt', rolled), say('Unchanged (event log deleted)', kept)].filter(Boolean).join(' ');
}

/** Returns your time and your agents' time by repository, as `steward time` does. @param {readonly DailyRecord[]} records */
export function ledgerRows(records) {
  /** @type {Record<string, number[]>} */
  const rows = {};
  const add = (/** @type {string} */ key, /** @type {number[]} */ ...values) =>
    (rows[key] = values.map((value, i) => value + (rows[key]?.[i] ?? 0)));
  for (const { ledger } of records) {
    for (const { repo, otherFolder, minutes: own } of ledger?.attention ?? [])
      add(repo ?? (otherFolder ? OTHER : OUTSIDE), own, 0, 0, 0);
    for (const { repo, cells } of ledger?.agents ?? [])
      add(repo ?? OUTSIDE, 0, sum(cells.working), sum(cells.waiting), cells.waiting?.desk ?? 0);
  }
  const rank = (/** @type {[string, number[]]} */ [key, values]) =>
    key === OUTSIDE ? -1 : sum(values.slice(0, 2));
  return Object.entries(rows).sort((a, b) => rank(b) - rank(a));
}

/** @param {number} part */
function share(part) {
  return h(
    'svg',
    { height: 12, 'aria-hidden': 'true' },
    part > 0 && h('rect', { class: 'neutral', width: `${Math.max(1, part * 100)}%`, height: 12 }),
  );
}

/**
 * Shows the time by repository. With `pick`, a repository is a button.
 * @param {Element} place @param {readonly DailyRecord[]} records @param {{ picked?: string | undefined, none?: Element | false }} [pick]
 */
export function showLedger(place, records, pick) {
  const rows = ledgerRows(records);
  const longest = Math.max(1, ...rows.map(([, [own = 0]]) => own));
  const nameOf = (/** @type {string} */ key) => {
    if (key === OUTSIDE) return 'outside repositories';
    if (key === OTHER || pick === undefined) return key;
    const isPicked = key === pick.picked;
    const title = isPicked ? 'Show all again' : `Show only ${key} on this page`;
    return h('button.plain', { 'data-repo': key, 'aria-pressed': String(isPicked), title }, key);
  };
  const table = (/** @type {typeof rows} */ part) =>
    h(
      'table',
      { class: 'figures' },
      head(['repository', 'you', 'share', ...AGENTS]),
      h(
        'tbody',
        part.map(([key, values]) =>
          h(
            'tr',
            { 'data-key': key, class: key === OUTSIDE ? 'muted' : null },
            h('th', { scope: 'row' }, nameOf(key)),
            values.flatMap((value, i) => [
              h('td', { 'data-name': AGENTS[i - 1] }, value === 0 ? '–' : minutes(value)),
              i === 0 && h('td.share', share(value / longest)),
            ]),
          ),
        ),
      ),
    );
  if (rows.length === 0)
    show(
      place,
      pick?.none ||
        hint('No time in repositories. To watch some, run:', 'steward config add sense.repos ~/src/app'),
    );
  else show(place, ...folded(rows, ROWS, table));
}
