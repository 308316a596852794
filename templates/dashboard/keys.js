// Keyboard shortcuts, and a list of them. For each shortcut, there is also a link or button.

import { storage } from './daemon.js';
import { byId, h } from './dom.js';
import { PAGES } from './nav.js';

const OFF = 'steward-keys-off';
const SEQUENCE_MS = 1500;

/** @type {Map<string, { text: string, run: () => void }>} */
const shortcuts = new Map();
let isOff = storage()?.getItem(OFF) === 'yes';

/** Adds a shortcut: one key, or two keys such as `g t`. @param {string} keys @param {string} text @param {() => void} run */
export function onKey(keys, text, run) {
  shortcuts.set(keys, { text, run });
}

/** Adds the shortcuts for pages that show days. @param {string} home */
export function onTurn(home) {
  const press = (/** @type {string} */ rel) => {
    const link = document.querySelector(`#day-links [rel=${rel}]`);
    if (link instanceof HTMLElement) link.click();
  };
  onKey('p', 'Earlier', () => press('prev'));
  onKey('n', 'Later', () => press('next'));
  onKey('t', 'Today', () => location.assign(home));
}

/** Adds the shortcuts that go to the first sessions waiting for you. */
export function onWaiting() {
  for (const n of [1, 2, 3, 4, 5])
    onKey(String(n), `Go to waiting session ${n}`, () =>
      focusRow(document.querySelectorAll('#waiting-list li, [data-key=Waiting] li')[n - 1]),
    );
}

export function watchKeys() {
  for (const [path, name, key] of PAGES) onKey(`g ${key}`, `Go to ${name}`, () => location.assign(path));
  onKey('?', 'Show the shortcuts', showDialog);
  const search = document.querySelector('input[type=search]');
  if (search instanceof HTMLElement) onKey('/', 'Search', () => search.focus());
  onKey('j', 'Next row', () => move(1));
  onKey('k', 'Previous row', () => move(-1));
  onKey('c', "Copy this row's command", () => press('li > .command > button'));
  onKey('o', 'Open the row', () => press('a, summary'));
  byId('keys').addEventListener('click', showDialog);
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
    if (found === undefined) return;
    event.preventDefault();
    found.run();
  });
}

/** @param {KeyboardEvent} event */
function isTyping({ target, isComposing }) {
  return isComposing || (target instanceof Element && target.closest('input, textarea, select, dialog'));
}

/** Escape clears the search; a second Escape leaves the field. @param {HTMLInputElement} field */
function leave(field) {
  if (field.type !== 'search') return;
  if (field.value === '') return field.blur();
  field.value = '';
  field.dispatchEvent(new Event('input', { bubbles: true }));
}

function row() {
  return document.activeElement?.closest('[data-rows] > li') ?? null;
}

/** @param {number} step */
function move(step) {
  const rows = [...document.querySelectorAll('[data-rows] > li')].filter((one) => one.checkVisibility());
  const at = rows.findIndex((one) => one === row());
  focusRow(rows[at === -1 ? (step > 0 ? 0 : rows.length - 1) : at + step]);
}

/** @param {Element | undefined} next */
function focusRow(next) {
  if (!(next instanceof HTMLElement)) return;
  next.tabIndex = -1;
  next.focus();
  next.scrollIntoView({ block: 'nearest' });
}

/** @param {string} selector */
function press(selector) {
  const found = row()?.querySelector(selector);
  if (found instanceof HTMLElement) found.click();
}

function showDialog() {
  const rows = document.querySelector('[data-rows], [data-stop]');
  const listed = [...shortcuts].filter(([name]) => rows || !/^[jkco]$/.test(name));
  const keys = listed.flatMap(([name, { text }]) => [h('dt', h('kbd', name)), h('dd', text)]);
  const toggle = h('input', { type: 'checkbox', checked: !isOff });
  toggle.addEventListener('change', () => {
    isOff = toggle instanceof HTMLInputElement && !toggle.checked;
    // If site data is blocked, the choice is lost on reload.
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
