// The groups of rows. The list is one tab stop; the arrow keys move between rows, headings and buttons.

import { around, byId, h, show } from './dom.js';
import { grouped } from './format.js';
import { onKey } from './keys.js';
import { details } from './work-acts.js';
import { row } from './work-rows.js';

/** @typedef {import('../../src/lib/work/board').Item} Item */

/** The initial number of rows per group. Redrawing thousands of rows would be slow. */
const PAGE = 50;
/** The order of the lanes: work in progress first. */
export const ORDER = ['In-Progress', 'In-Review', 'Blocked', 'Queued', 'Complete'];

/** The number of rows shown, by group. @type {Map<string, number>} */
const shown = new Map();
const folded = new Set(['Complete']);
/** The issue whose details are shown. @type {string | undefined} */
let opened;
let stop = '';
let change = () => {};

const place = byId('lanes');

/**
 * @param {readonly string[]} lanes @param {(lane: string) => Item[]} itemsOf @param {boolean} isBoard @param {number} now
 */
export function showList(lanes, itemsOf, isBoard, now) {
  const active = document.activeElement;
  place.className = isBoard ? 'board' : '';
  show(
    place,
    lanes.map((lane) => {
      const items = itemsOf(lane);
      if (items.some(({ number }) => String(number) === opened)) moveRow(lane);
      return laneOf(lane, items, isBoard, now);
    }),
  );
  const all = stops();
  const found = all.find((one) => one.dataset['stop'] === stop) ?? all[0];
  if (found === undefined) return;
  found.tabIndex = 0;
  // Moving a row removes its focus.
  if (active !== document.activeElement) found.focus();
}

/** Moves the open row to its new group, preserving focus and typed text. @param {string} lane */
function moveRow(lane) {
  const item = place.querySelector(`[data-key="${opened}"]`);
  const list = place.querySelector(`[data-key="${lane}"] ul`);
  if (item === null || list === null || list.contains(item)) return;
  const active = document.activeElement;
  list.prepend(item);
  if (active instanceof HTMLElement && item.contains(active)) active.focus();
}

export function startOver() {
  shown.clear();
}

/** @param {string} lane @param {readonly Item[]} items @param {boolean} isBoard @param {number} now */
function laneOf(lane, items, isBoard, now) {
  // The board never folds lanes.
  const isOpen = isBoard || !folded.has(lane);
  const id = `lane-${lane.toLowerCase()}`;
  const count = shown.get(lane) ?? PAGE;
  const rest = items.length - count;
  const button = { tabindex: -1, 'data-lane': lane };
  const head = h(
    'button',
    { ...button, id, class: 'fold', 'data-stop': lane, 'aria-expanded': !isBoard && String(isOpen) },
    `${isBoard ? '' : isOpen ? '▾ ' : '▸ '}${lane.replace('-P', ' p').replace('-R', ' r')} `,
    h('span.muted', grouped(items.length)),
  );
  return h(
    'section',
    { class: 'lane', 'data-key': lane, 'aria-labelledby': id },
    h('h2', head),
    isOpen && items.length === 0 && h('p', { class: 'muted', 'data-key': 'empty' }, 'Empty'),
    isOpen &&
      h(
        'ul',
        items
          .slice(0, count)
          .map((item) => row(item, now, String(item.number) === opened ? details(item, now) : undefined)),
      ),
    isOpen &&
      rest > 0 &&
      h(
        'button',
        { ...button, class: 'more', 'data-key': 'more', 'data-stop': `${lane} more`, 'data-more': count },
        `Show ${Math.min(PAGE, rest)} more (${grouped(rest)} left)`,
      ),
  );
}

function stops() {
  return /** @type {HTMLElement[]} */ ([...place.querySelectorAll('[data-stop]')]);
}

/** @param {string} name */
function goTo(name) {
  focus(stops().find((one) => one.dataset['stop'] === name));
}

/** @param {HTMLElement | undefined} next */
function focus(next) {
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}

/** @param {number} step */
function move(step) {
  const all = stops();
  const at = all.findIndex(({ tabIndex }) => tabIndex === 0);
  focus(all[place.contains(document.activeElement) ? at + step : at]);
}

/** @param {string} number */
function toggle(number) {
  opened = opened === number ? undefined : number;
  change();
}

/** @param {string} lane @param {number} count the number of rows shown so far */
function showMore(lane, count) {
  shown.set(lane, count + PAGE);
  change();
  requestAnimationFrame(() => {
    const items = stops().filter((one) => one.closest('section')?.dataset['key'] === lane);
    focus(items[count + 1]);
  });
}

/** Handles pointer and keyboard events. @param {() => void} redraw */
export function watchList(redraw) {
  change = redraw;
  place.addEventListener('click', (event) => {
    const button = around(event, 'button');
    const { lane, more, open } = button?.dataset ?? {};
    if (open !== undefined) return toggle(open);
    if (lane === undefined) return;
    if (more !== undefined) return showMore(lane, Number(more));
    if (!button?.ariaExpanded) return;
    if (!folded.delete(lane)) folded.add(lane);
    change();
  });
  place.addEventListener('focusin', ({ target }) => {
    const own = target instanceof HTMLElement ? target.dataset['stop'] : undefined;
    if (own === undefined) return;
    stop = own;
    for (const one of stops()) one.tabIndex = one === target ? 0 : -1;
  });
  place.addEventListener('keydown', onListKey);
  onKey('j', 'Next row', () => move(1), '#lanes');
  onKey('k', 'Previous row', () => move(-1), '#lanes');
  onKey(
    'o',
    'Show or hide details',
    () => {
      if (/^\d/.test(stop)) toggle(stop);
    },
    '.item',
  );
  onKey(
    'c',
    "Copy this row's command",
    () => {
      if (!/^\d/.test(stop)) return;
      if (opened !== stop) toggle(stop);
      requestAnimationFrame(() => {
        const button = place.querySelector('.details [data-copy]');
        if (button instanceof HTMLElement) button.click();
      });
    },
    '.item',
  );
  for (const [at, name] of ORDER.entries())
    onKey(String(at + 1), `Go to ${name.replace('-', ' ').toLowerCase()}`, focus, `[data-stop=${name}]`);
}

/** @param {KeyboardEvent} event */
function onListKey(event) {
  const { target, key, ctrlKey, metaKey, altKey } = event;
  if (!(target instanceof HTMLElement) || ctrlKey || metaKey || altKey) return;
  if (key === 'Escape' && opened !== undefined) {
    goTo(opened);
    return toggle(opened);
  }
  const own = target.dataset['stop'];
  if (own === undefined) return;
  if (key === 'ArrowDown') move(1);
  else if (key === 'ArrowUp') move(-1);
  else if (key === 'Home') focus(stops()[0]);
  else if (key === 'End') focus(stops().at(-1));
  else if (key === ' ' && target.matches('a')) toggle(own);
  else return;
  event.preventDefault();
}
