// The groups of rows. The list is one tab stop; the arrow keys move between rows, headings and buttons.

import { isSignedIn } from './daemon.js';
import { around, byId, h, show } from './dom.js';
import { grouped } from './format.js';
import { onKey } from './keys.js';
import { details, moveTo, moveWith, refusalOf } from './work-acts.js';
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
          .map((item) =>
            row(
              item,
              now,
              String(item.number) === opened ? details(item, now) : undefined,
              isBoard && isSignedIn(),
              isBoard ? refusalOf(item.number) : undefined,
            ),
          ),
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
  // The user closes it, and its text is kept as a draft.
  place.querySelector('.details')?.remove();
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

/** The status of the issues in each lane. @type {Readonly<Record<string, string>>} */
const STATUSES = {
  Queued: 'queued',
  Blocked: 'blocked',
  'In-Progress': 'in-progress',
  'In-Review': 'in-review',
};

/** Moves a card to a lane. What needs a reason or evidence opens the card's form. @param {string} number @param {string | undefined} lane */
function drop(number, lane = '') {
  const from = laneAt(number);
  if (from === undefined || lane === '' || from === lane) return;
  if (lane !== 'Blocked' && lane !== 'Complete') return moveTo(Number(number), STATUSES[lane] ?? '');
  moveWith(Number(number), lane === 'Blocked' ? 'blocked' : undefined);
  opened = number;
  change();
  requestAnimationFrame(() => {
    const field = place.querySelector(lane === 'Blocked' ? '[name=reason]' : '[name=evidence]');
    if (field instanceof HTMLElement) field.focus();
  });
}

/** Returns the lane of a card. @param {string} number */
function laneAt(number) {
  const card = place.querySelector(`[data-key="${CSS.escape(number)}"]`);
  return card?.closest('section')?.dataset['key'];
}

/** Handles dragging cards between lanes. */
function watchDrags() {
  let [pressed, dragged] = ['', ''];
  const cardAt = (/** @type {Event} */ event) => around(event, '[draggable]')?.dataset['key'] ?? '';
  place.addEventListener('pointerdown', (event) => (pressed = cardAt(event)));
  place.addEventListener('dragstart', (event) => {
    // A browser drags what is under the pointer: another card than the pressed one if the page has scrolled.
    if (cardAt(event) !== pressed) return event.preventDefault();
    dragged = pressed;
    event.dataTransfer?.setData('text/plain', `#${dragged}`);
  });
  place.addEventListener('dragover', (event) => {
    const lane = dragged !== '' && around(event, 'section');
    for (const one of place.querySelectorAll('.over')) if (one !== lane) one.classList.remove('over');
    if (!lane) return;
    event.preventDefault();
    lane.classList.add('over');
  });
  place.addEventListener('dragend', () => {
    dragged = '';
    for (const one of place.querySelectorAll('.over')) one.classList.remove('over');
  });
  place.addEventListener('drop', (event) => {
    event.preventDefault();
    if (dragged !== '') drop(dragged, around(event, 'section')?.dataset['key']);
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
  watchDrags();
  onKey('Shift+← →', 'Move the card to another lane', () => {}, '.board [draggable]');
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
  const side = event.shiftKey ? { ArrowLeft: -1, ArrowRight: 1 }[key] : undefined;
  if (side !== undefined && target.closest('[draggable]')) {
    event.preventDefault();
    const lanes = [...place.querySelectorAll('section')].map(({ dataset }) => dataset['key'] ?? '');
    return drop(own, lanes[lanes.indexOf(laneAt(own) ?? '') + side]);
  }
  if (key === 'ArrowDown') move(1);
  else if (key === 'ArrowUp') move(-1);
  else if (key === 'Home') focus(stops()[0]);
  else if (key === 'End') focus(stops().at(-1));
  else if (key === ' ' && target.matches('a')) toggle(own);
  else return;
  event.preventDefault();
}
