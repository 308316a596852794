// Keyboard shortcuts, and a list of them. For each shortcut, there is also a link or button.

import { storage } from './daemon.js';
import { byId, h } from './dom.js';
import { PAGES } from './nav.js';

const OFF = 'steward-keys-off';
const SEQUENCE_MS = 1500;
/** The element that opens a row. Rows without one are skipped. */
const OPENS = 'a[href], summary';
const COMMAND = '[data-rows] > li > .command';
const ROWS = `[data-rows] > li:has(${OPENS})`;
const TIMELINE = [
  ['← →', 'Move along the timeline'],
  ['Shift+← →', 'Move by an hour'],
  ['Home, End', 'Go to the first or last item'],
  ['z', 'Zoom into the hour; Escape shows all'],
];

/** @type {Map<string, { text: string, run: (target: any) => void, selector: string, at: number }>} */
const shortcuts = new Map();
let isOff = storage()?.getItem(OFF) === 'yes';

/**
 * Adds a shortcut: one key, or two keys such as `g t`. It is listed and active only while its target is visible.
 * @param {string} keys @param {string} text @param {(target: any) => void} run
 */
export function onKey(keys, text, run, selector = 'body', at = 0) {
  shortcuts.set(keys, { text, run, selector, at });
}

/** @param {string} selector @returns {HTMLElement[]} */
function visible(selector) {
  const all = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(selector)]);
  return all.filter((one) => one.checkVisibility());
}

/** @param {HTMLElement} target */
function click(target) {
  target.click();
}

/** Adds the shortcuts for pages that show days. @param {string} home */
export function onTurn(home) {
  onKey('p', 'Earlier', click, '#day-links [rel=prev]');
  onKey('n', 'Later', click, '#day-links [rel=next]');
  onKey('t', 'Today', () => location.assign(home));
}

export function onWaiting() {
  for (const n of [1, 2, 3, 4, 5])
    onKey(String(n), `Go to waiting row ${n}`, focusRow, '#waiting-list li, [data-key=Waiting] li', n - 1);
}

export function watchKeys() {
  for (const [path, name, key] of PAGES) onKey(`g ${key}`, `Go to ${name}`, () => location.assign(path));
  onKey('?', 'Show the shortcuts', showDialog);
  onKey('/', 'Search', (field) => field.focus(), 'input[type=search]');
  onKey('j', 'Next row', () => move(1), ROWS);
  onKey('k', 'Previous row', () => move(-1), ROWS);
  onKey(
    'c',
    "Copy this row's command",
    () => press(`${COMMAND} > button`),
    '[data-rows] > li:has(> .command)',
  );
  onKey('o', 'Open the row', () => press(OPENS), ROWS);
  for (const [keys = '', text = ''] of TIMELINE) onKey(keys, text, () => {}, '[role=slider]');
  onKey('Enter, Escape', 'Show only this application, or all', () => {}, '#day [role=slider]');
  byId('keys').addEventListener('click', showDialog);
  document.addEventListener('focusin', rove);
  const hint = h('p.sequence', { 'aria-hidden': 'true' });
  document.body.append(hint);
  let first = '';
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && event.target instanceof HTMLInputElement) return leave(event.target);
    if (isOff || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
    const key = event.key === 'Enter' && event.target === row() ? 'o' : event.key;
    const keys = `${first}${key}`;
    const found = shortcuts.get(keys);
    clearTimeout(timer);
    const isStart = first === '' && [...shortcuts.keys()].some((known) => known.startsWith(`${event.key} `));
    first = isStart ? `${event.key} ` : '';
    hint.textContent = first && `${first}…`;
    timer = setTimeout(() => (first = hint.textContent = ''), SEQUENCE_MS);
    const target = found && visible(found.selector)[found.at];
    if (!target) return;
    event.preventDefault();
    found.run(target);
  });
}

/** @param {KeyboardEvent} event */
function isTyping({ target, isComposing }) {
  return (
    isComposing || (target instanceof Element && target.closest('input, textarea, select, dialog, form'))
  );
}

/** Escape clears the search; a second Escape leaves the field. @param {HTMLInputElement} field */
function leave(field) {
  if (field.type !== 'search') return;
  if (field.value === '') return field.blur();
  field.value = '';
  field.dispatchEvent(new Event('input', { bubbles: true }));
}

/** What a row offers besides its title. */
const CONTROLS = '.buttons :is(a, button), li > .command > button';

/** Makes each row of a list one tab stop, and adds the buttons of the row with the focus. */
export function rove() {
  for (const one of document.querySelectorAll(':is(#now, #groups) [data-rows] > li')) {
    const isActive = one.contains(document.activeElement);
    for (const control of one.querySelectorAll(CONTROLS))
      if (control instanceof HTMLElement && !control.closest('form')) control.tabIndex = isActive ? 0 : -1;
  }
}

function row() {
  return document.activeElement?.closest('[data-rows] > li') ?? null;
}

/** @param {number} step */
function move(step) {
  const all = visible(ROWS);
  const at = all.findIndex((one) => one === row());
  focusRow(all[at === -1 ? (step > 0 ? 0 : all.length - 1) : at + step]);
}

/** @param {HTMLElement | undefined} next */
function focusRow(next) {
  if (next === undefined) return;
  next.tabIndex = -1;
  next.focus();
  next.scrollIntoView({ block: 'nearest' });
}

/** @param {string} selector */
function press(selector) {
  const found = row()?.querySelector(selector);
  if (found instanceof HTMLElement) click(found);
}

function showDialog() {
  const listed = [...shortcuts].filter(([, { selector, at }]) => visible(selector)[at]);
  const keys = listed.flatMap(([name, { text }]) => [h('dt', h('kbd', name)), h('dd', text)]);
  const toggle = h('input', { type: 'checkbox', checked: !isOff });
  toggle.addEventListener('change', () => {
    isOff = toggle instanceof HTMLInputElement && !toggle.checked;
    // If site data is blocked, this setting is lost on reload.
    storage()?.setItem(OFF, isOff ? 'yes' : 'no');
  });
  const dialog = h(
    'dialog',
    { 'aria-labelledby': 'keys-title' },
    h('h2', { id: 'keys-title' }, 'Keyboard shortcuts'),
    h('p', h('label', toggle, ' Single-key shortcuts')),
    h('dl.counts', keys),
    h('form', { method: 'dialog' }, h('button.copy', 'close')),
  );
  document.body.append(dialog);
  dialog.addEventListener('close', () => dialog.remove());
  if (dialog instanceof HTMLDialogElement) dialog.showModal();
}
