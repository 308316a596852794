// The page /work: issues in groups, filters, and the age of the data. The URL contains the filters and the view.

import { isSignedIn } from './daemon.js';
import { around, byId, command, h, show } from './dom.js';
import { clock, grouped, moment, plural } from './format.js';
import { onKey } from './keys.js';
import { follow } from './live.js';
import { drawPanels } from './notes.js';
import { doneLine, loadCaptures, menu, tools, watchActs } from './work-acts.js';
import { ORDER, showList, startOver, watchList } from './work-list.js';
import { FACETS, filtered, late, valuesOf } from './work-rows.js';

/** @typedef {import('../../src/lib/work/board').BoardView} Board */
/** @typedef {import('../../src/lib/work/status').WorkStatus} Status */

/** Counts the page's own changes, so that each causes a redraw. */
let revision = 0;
/** @type {Map<number, import('../../src/lib/work/board').Item>} */
let items = new Map();

const search = /** @type {HTMLInputElement} */ (byId('search'));
search.value = chosen().get('q') ?? '';

const { redraw, refresh } = follow(
  { board: '/api/work', status: '/api/work/status' },
  ({ board: feed, status }, { now, lostAt }) => {
    const board = /** @type {Board | undefined} */ (feed.data);
    const waiting = /** @type {Status | undefined} */ (status.data)?.waiting ?? [];
    drawPanels([
      {
        name: 'Work',
        feeds: [feed],
        from: [
          board,
          JSON.stringify(waiting),
          location.search,
          isSignedIn(),
          revision,
          Math.floor(now / 60_000),
          lostAt,
        ],
        draw() {
          if (board !== undefined) draw(board, waiting, now, lostAt);
        },
      },
    ]);
  },
);

function change() {
  revision += 1;
  redraw();
}
watchActs(change, refresh, (number) => items.get(number));
watchList(change);

function chosen() {
  return new URLSearchParams(location.search);
}

/** @param {URLSearchParams} next @param {boolean} [isTyped] whether the user is typing; typing adds no history entries */
function choose(next, isTyped = false) {
  const query = next.toString();
  const url = query === '' ? location.pathname : `?${query}`;
  if (isTyped) history.replaceState(null, '', url);
  else history.pushState(null, '', url);
  startOver();
  redraw();
}

/** @param {Board} board @param {Status['waiting']} waiting @param {number} now @param {number} [lostAt] */
function draw(board, waiting, now, lostAt) {
  const { items: all, setupRequired, config, columns, steps } = board;
  showStale(board, waiting, now);
  byId('filters').hidden = byId('lanes').hidden = setupRequired;
  const commands = steps.map((step) => h('li', command(step)));
  show(byId('setup'), setupRequired && h('ol', { class: 'steps numbered' }, commands));
  if (setupRequired) {
    show(byId('facts'), 'Work tracking is not set up. It stores work as issues in a private repository.');
    return;
  }
  items = new Map(all.map((item) => [item.number, item]));
  const matching = new Map(filtered(all, chosen()).map((item) => [item.number, item]));
  const open = [...matching.values()].filter(({ state }) => state === 'open').length;
  show(
    byId('facts'),
    h('b', config.repo),
    lostAt === undefined ? ': ' : ` at ${clock(lostAt)}: `,
    h('b', plural(open, 'open issue')),
    `, ${grouped(matching.size - open)} closed${matching.size === all.length ? '' : ` (of ${grouped(all.length)} issues)`}.`,
  );
  showFilters(all);
  show(byId('tools'), tools(valuesOf(all, 'type')));
  show(byId('done'), doneLine());
  const isBoard = chosen().has('view');
  const isNone = matching.size === 0 && all.length > 0;
  const words = [...chosen()].flatMap(([name, value]) => (name === 'view' ? [] : value));
  show(byId('none'), isNone && [`No issues match ${words.join(', ')}. `, clearButton('Clear filters')]);
  const lanes = isBoard ? config.columns : ORDER.filter((lane) => columns[lane]);
  const itemsOf = (/** @type {string} */ lane) => {
    const own = (columns[lane] ?? []).flatMap((number) => matching.get(number) ?? []);
    return [...new Set([...late(own, now), ...own])];
  };
  showList(isNone ? [] : lanes, itemsOf, isBoard, now);
}

/** @param {string} text */
function clearButton(text) {
  return h('button', { class: 'copy clear', 'data-key': 'clear' }, text);
}

function clear() {
  search.value = '';
  choose(new URLSearchParams(chosen().has('view') ? { view: 'board' } : {}));
}

function switchView() {
  const next = chosen();
  if (next.has('view')) next.delete('view');
  else next.set('view', 'board');
  choose(next);
}

/** @param {Board['items']} all */
function showFilters(all) {
  const now = chosen();
  const facets = Object.keys(FACETS);
  const button = (/** @type {string} */ facet, /** @type {string} */ value, isChip = false) => {
    const text = facet === 'agent' ? `@${value}` : value;
    const state = isChip
      ? { 'aria-label': `Remove the filter ${text}` }
      : { 'aria-pressed': String(now.getAll(facet).includes(value)) };
    const data = { 'data-key': `${facet}=${value}`, 'data-facet': facet, 'data-value': value };
    return h('button', { ...data, ...state }, isChip ? `${text} ×` : text);
  };
  const menus = facets.map((facet) => {
    const values = valuesOf(all, facet).map((value) => button(facet, value));
    return values.length > 0 && menu(`${facet[0]?.toUpperCase()}${facet.slice(1)}`, values);
  });
  const chips = facets.flatMap((facet) => now.getAll(facet).map((value) => button(facet, value, true)));
  const isBoard = String(now.has('view'));
  show(
    byId('toggles'),
    menus,
    h('button', { class: 'view', 'data-key': 'view', 'aria-pressed': isBoard }, 'Board'),
    chips,
    (chips.length > 0 || search.value !== '') && clearButton('Clear'),
  );
}

/** @param {Board} board @param {Status['waiting']} waiting @param {number} now */
function showStale({ stale, staleReason, lastFetch }, waiting, now) {
  const since = lastFetch === null ? '' : `As of ${moment(Date.parse(lastFetch), now)}. `;
  show(
    byId('stale'),
    stale && `▲ ${since}${staleReason ?? ''} `,
    waiting.flatMap(({ count, message, fix }) => [
      `${count} queued: ${message}. `,
      fix === null ? null : command(fix),
    ]),
  );
}

search.addEventListener('input', () => {
  const next = chosen();
  if (search.value.trim() === '') next.delete('q');
  else next.set('q', search.value);
  choose(next, true);
});

document.addEventListener('click', (event) => {
  const button = around(event, 'button');
  const { facet, value = '' } = button?.dataset ?? {};
  if (facet !== undefined) {
    const next = chosen();
    if (next.getAll(facet).includes(value)) next.delete(facet, value);
    else next.append(facet, value);
    choose(next);
  } else if (button?.matches('.clear')) clear();
  else if (button?.matches('.view')) switchView();
});

// Use the capture phase, since `toggle` events don't bubble.
byId('tools').addEventListener(
  'toggle',
  ({ target }) => {
    if (target instanceof HTMLDetailsElement && target.open) void loadCaptures();
  },
  true,
);

byId('filters').addEventListener('keydown', (event) => {
  const box = around(event, 'details');
  if (event.key !== 'Escape' || !(box instanceof HTMLDetailsElement)) return;
  box.open = false;
  box.querySelector('summary')?.focus();
});

onKey('v', 'Switch view', switchView, '.view');
onKey('F', 'Clear the filters', clear, '.clear');
for (const [key, name] of Object.entries({ p: 'Priority', t: 'Type', r: 'Property', a: 'Agent' }))
  onKey(
    `f ${key}`,
    `Filter by ${name.toLowerCase()}`,
    (box) => {
      box.open = true;
      box.querySelector('button').focus();
    },
    `#toggles [data-key=${name}]`,
  );

addEventListener('popstate', () => {
  search.value = chosen().get('q') ?? '';
  redraw();
});
