// The page /work: the lanes of the board, filters, and the age of the data. The filters are part of the URL.

import { byId, command, h, show } from './dom.js';
import { moment, plural } from './format.js';
import { follow } from './live.js';
import { showWaiting, waitingIn } from './nav.js';
import { drawPanels } from './notes.js';
import { card, FACETS, filtered, valuesOf } from './work-cards.js';

/** @typedef {import('../../src/lib/work/board').BoardView} Board */

/** Cards per lane and page; with thousands, redrawing and scrolling would be slow. */
const PAGE = 200;
/** Index of the first shown card by lane. @type {Map<string, number>} */
const startOf = new Map();
/** The lane whose page was just turned. @type {string | undefined} */
let turned;

const search = /** @type {HTMLInputElement} */ (byId('search'));
search.value = chosen().get('q') ?? '';

const { redraw } = follow({ board: '/api/work', sessions: '/api/sessions' }, ({ board: feed, sessions }) => {
  showWaiting(waitingIn(sessions.data));
  const now = Date.now();
  const board = /** @type {Board | undefined} */ (feed.data);
  drawPanels(byId('notes'), [
    {
      name: 'Work',
      feeds: [feed],
      from: [board, location.search, [...startOf.values()].join(), Math.floor(now / 60_000)],
      draw() {
        if (board !== undefined) draw(board, now);
      },
    },
  ]);
});

function chosen() {
  return new URLSearchParams(location.search);
}

/** @param {URLSearchParams} next */
function choose(next) {
  const query = next.toString();
  history.replaceState(null, '', query === '' ? location.pathname : `?${query}`);
  startOf.clear();
  redraw();
}

/** @param {Board} board @param {number} now */
function draw(board, now) {
  const { items, setupRequired, config } = board;
  showStale(board, now);
  show(byId('setup'), setupRequired && steps(board));
  byId('filters').hidden = setupRequired;
  if (setupRequired) {
    show(byId('facts'), 'Work tracking is not set up. It stores work as issues in a private repository.');
    show(byId('lanes'));
    return;
  }
  const kept = filtered(items, chosen());
  const open = kept.filter(({ state }) => state === 'open').length;
  const all = kept.length === items.length ? '' : ` of ${items.length}`;
  show(
    byId('facts'),
    h('b', {}, config.repo),
    ': ',
    h('b', {}, plural(open, 'open issue')),
    `, ${kept.length - open} closed${all}.`,
  );
  showToggles(board);
  const numbers = new Map(kept.map((item) => [item.number, item]));
  show(
    byId('lanes'),
    config.columns.map((lane) => laneOf(lane, board.columns[lane] ?? [], numbers, now)),
  );
  goTo(turned);
  turned = undefined;
}

/** Scrolls to the first card of a lane and focuses it, after a page was turned. @param {string | undefined} lane */
function goTo(lane) {
  const section = [...document.querySelectorAll('.lane')].find(
    (one) => one.getAttribute('data-key') === lane,
  );
  section?.scrollIntoView();
  section?.querySelector('a')?.focus({ preventScroll: true });
}

/** @param {string} lane @param {readonly number[]} order @param {Map<number, import('../../src/lib/work/board').Item>} kept @param {number} now */
function laneOf(lane, order, kept, now) {
  const own = order.flatMap((number) => kept.get(number) ?? []);
  const last = Math.max(0, Math.ceil(own.length / PAGE) - 1) * PAGE;
  const start = Math.min(startOf.get(lane) ?? 0, last);
  const end = Math.min(start + PAGE, own.length);
  const id = `lane-${lane.toLowerCase()}`;
  return h(
    'section',
    { class: 'lane', 'data-key': lane, 'aria-labelledby': id },
    h('h2', { id }, `${lane} `, h('span', { class: 'muted' }, String(own.length))),
    start > 0 && turn('earlier', lane, start - PAGE, `${start} earlier`),
    own.length > PAGE &&
      h('p', { class: 'muted small', 'data-key': 'range' }, `${start + 1} to ${end} of ${own.length}`),
    own.length === 0
      ? h('p', { class: 'muted' }, 'Empty')
      : h(
          'ul',
          {},
          own.slice(start, end).map((item) => card(item, now)),
        ),
    own.length > end && turn('more', lane, end, `${own.length - end} more`),
  );
}

/** @param {string} name @param {string} lane @param {number} start @param {string} text */
function turn(name, lane, start, text) {
  return h(
    'button',
    { type: 'button', class: name, 'data-key': name, 'data-lane': lane, 'data-start': start },
    text,
  );
}

/** @param {Board} board */
function showToggles({ items }) {
  const now = chosen();
  show(
    byId('toggles'),
    Object.keys(FACETS).flatMap((facet) =>
      valuesOf(items, facet).map((value) =>
        h(
          'button',
          {
            type: 'button',
            'data-key': `${facet}=${value}`,
            'data-facet': facet,
            'data-value': value,
            'aria-pressed': now.getAll(facet).includes(value) ? 'true' : 'false',
          },
          facet === 'agent' ? `@ ${value}` : value,
        ),
      ),
    ),
  );
}

/** @param {Board} board @param {number} now */
function showStale({ stale, staleReason, lastFetch }, now) {
  const since = lastFetch === null ? '' : `As of ${moment(Date.parse(lastFetch), now)}. `;
  show(byId('stale'), stale && `${since}${staleReason ?? ''}`);
}

/** @param {Board} board */
function steps(board) {
  return h(
    'ol',
    { class: 'steps' },
    board.steps.map((step) => h('li', {}, command(step))),
  );
}

search.addEventListener('input', () => {
  const next = chosen();
  if (search.value.trim() === '') next.delete('q');
  else next.set('q', search.value);
  choose(next);
});

document.addEventListener('click', ({ target }) => {
  const button = target instanceof Element ? target.closest('button') : null;
  const { facet, value = '', lane, start } = button?.dataset ?? {};
  if (facet !== undefined) {
    const next = chosen();
    if (next.getAll(facet).includes(value)) next.delete(facet, value);
    else next.append(facet, value);
    choose(next);
  } else if (lane !== undefined) {
    startOf.set(lane, Number(start));
    turned = lane;
    redraw();
  }
});

document.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLInputElement;
  if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    search.focus();
  }
});

addEventListener('popstate', () => {
  search.value = chosen().get('q') ?? '';
  redraw();
});
