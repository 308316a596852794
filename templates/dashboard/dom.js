// Untrusted text goes only into text nodes and attributes. Updates reuse nodes to preserve focus, scroll position and
// hover.

import { isDemo, typedHere } from './daemon.js';
import { clock, grouped } from './format.js';

const SVG = 'http://www.w3.org/2000/svg';
const SVG_TAGS = new Set(['svg', 'defs', 'rect', 'text', 'g', 'path', 'pattern']);

/** How long a copy button shows its result. */
const COPIED_MS = 2000;

/** @typedef {string | number | boolean | null | undefined} Attribute */
/** @typedef {Node | string | null | undefined | false} Child */

/**
 * Creates an element: `h('p.muted', 'text')`, `h('a', { href }, 'text')`. Omits attributes that are false, null or undefined.
 * @param {string} kind @param {...(Record<string, Attribute> | Child | Child[])} parts
 * @returns {Element}
 */
export function h(kind, ...parts) {
  const [tag = '', ...classes] = kind.split('.');
  const element = SVG_TAGS.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  if (classes.length > 0) element.setAttribute('class', classes.join(' '));
  for (const part of parts) {
    if (!part || typeof part === 'string' || Array.isArray(part) || part instanceof Node)
      element.append(...nodes([part || null]));
    else
      for (const [name, value] of Object.entries(part))
        if (value !== false && value !== null && value !== undefined)
          element.setAttribute(name, value === true ? '' : SHOWN.has(name) ? plain(value) : String(value));
  }
  return element;
}

/** Characters that would reverse the text beside them. */
const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/g;
/** The attributes that users read or hear. */
const SHOWN = new Set(['title', 'aria-label', 'aria-valuetext']);

/** @param {unknown} text */
export function plain(text) {
  return String(text).replaceAll(DIRECTIONS, '');
}

/** @param {(Child | Child[])[]} children */
function nodes(children) {
  return children
    .flat()
    .flatMap((child) => (child ? [typeof child === 'string' ? plain(child) : child] : []));
}

/** @param {string} id @returns {HTMLElement} */
export function byId(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`Missing element #${id}.`);
  return element;
}

/**
 * Replaces an element's children. Reuses nodes that have the same `data-key`, or the same kind and position. Keeps forms
 * with text that was not sent.
 * @param {Element} parent @param {...(Child | Child[])} children
 */
export function show(parent, ...children) {
  const active = document.activeElement;
  const item = active?.closest('li');
  const list = item?.parentElement && parent.contains(item) ? item.parentElement : parent;
  const index = [...list.children].findIndex((child) => child.contains(active));
  const fragment = document.createDocumentFragment();
  fragment.append(...nodes(children));
  morphChildren(parent, [...fragment.childNodes]);
  if (!(active instanceof HTMLElement) || index < 0 || active === document.activeElement) return;
  // Moving a node removes its focus. What is gone passes it on to the row that takes its place.
  const place = list.isConnected ? list : parent;
  const row = place.children[Math.min(index, place.children.length - 1)];
  const next = parent.contains(active) ? active : row?.querySelector('button, a[href], summary');
  if (next instanceof HTMLElement) next.focus();
  else if (document.activeElement === document.body)
    document.querySelector('main')?.focus({ preventScroll: true });
}

/** @param {Element} parent @param {ChildNode[]} wanted */
function morphChildren(parent, wanted) {
  const keys = new Set(wanted.map(keyOf));
  for (const node of [...parent.childNodes])
    if (keyOf(node) !== undefined && !keys.has(keyOf(node))) discard(node);
  const byKey = new Map([...parent.childNodes].map((node) => [keyOf(node), node]));
  let place = parent.firstChild;
  for (const next of wanted) {
    while (isHeld(place) && !keys.has(keyOf(place))) place = place.nextSibling;
    const key = keyOf(next);
    const old = key === undefined ? place : byKey.get(key);
    if (old && key === keyOf(old) && old.nodeName === next.nodeName) {
      if (old === place) place = place.nextSibling;
      else parent.insertBefore(old, place);
      morph(old, next);
    } else fillDrafts(parent.insertBefore(next, place));
  }
  while (place !== null) {
    const after = place.nextSibling;
    discard(place);
    place = after;
  }
}

/** Fields with text that was not sent. @type {WeakSet<Element>} */
const typed = new WeakSet();
/** What a page never removes: a field with text, or the one in which the user is typing. */
const FIELDS = 'form :is(input:not([type=search]), textarea)';
const DRAFT_FIELDS = 'form[data-key] :is(input:not([type=search]), textarea)';

/** The texts that were not sent, by form and field. They survive a reload of the tab. @type {Record<string, string>} */
let drafts = {};
const DRAFTS = 'steward-drafts';
try {
  drafts = JSON.parse(sessionStorage.getItem(DRAFTS) ?? '{}');
} catch {
  // The browser blocks site data, so texts don't survive.
}

/** @param {HTMLInputElement | HTMLTextAreaElement} field */
function draftKey({ form, name }) {
  return `${form?.dataset.key} ${name}`;
}

/** Returns the keys of the forms that had text before the page was reloaded. */
export function draftForms() {
  return new Set(Object.keys(drafts).map((key) => key.replace(/ \S*$/, '')));
}

/** Keeps the text of a field, or removes it. @param {HTMLInputElement | HTMLTextAreaElement} field @param {string} text */
function keepDraft(field, text) {
  if (text.trim() === '') typed.delete(field);
  else typed.add(field);
  if (field.form?.dataset.key === undefined || drafts[draftKey(field)] === (text || undefined)) return;
  if (text.trim() === '') delete drafts[draftKey(field)];
  else drafts[draftKey(field)] = text;
  try {
    sessionStorage.setItem(DRAFTS, JSON.stringify(drafts));
  } catch {
    // The same as above, or the text is too long.
  }
}

/** Puts texts from before a reload into a new part of the page. @param {Node} part */
function fillDrafts(part) {
  if (!(part instanceof Element) || Object.keys(drafts).length === 0) return;
  const fields = /** @type {NodeListOf<HTMLInputElement>} */ (part.querySelectorAll(DRAFT_FIELDS));
  for (const field of fields) {
    const text = drafts[draftKey(field)];
    if (text === undefined) continue;
    field.value = text;
    typed.add(field);
  }
}

/** Returns the fields with text in a part of the page. @param {Element} part @returns {(HTMLInputElement | HTMLTextAreaElement)[]} */
function textsIn(part) {
  const all = /** @type {NodeListOf<HTMLInputElement>} */ (part.querySelectorAll(FIELDS));
  return [...all].filter((one) => typed.has(one) || one === document.activeElement);
}

/** Returns whether a row has text that was not sent. @param {Element} place @param {string} key */
export function hasText(place, key) {
  const row = place.querySelector(`[data-key="${CSS.escape(key)}"]`);
  return row !== null && textsIn(row).length > 0;
}

/** @param {Node | null} node @returns {node is HTMLElement} */
function isHeld(node) {
  return node instanceof HTMLElement && node.dataset.held !== undefined;
}

/** Removes a node, or keeps it until the text in it is dismissed. @param {ChildNode} node */
function discard(node) {
  if (!(node instanceof HTMLElement) || textsIn(node).length === 0) return node.remove();
  if (node.dataset.held !== undefined) return;
  node.hidden = false;
  node.dataset.held = '';
  node.append(
    h(
      'p.held.attention',
      { role: 'status' },
      `This row was closed, answered or snoozed at ${clock(Date.now())}. `,
      h('button', { type: 'button', 'data-held-act': 'copy' }, 'Copy your text'),
      h('button', { type: 'button', 'data-held-act': 'dismiss' }, 'Dismiss'),
    ),
  );
}

/** Notes which forms have text that was not sent, and handles the buttons of forms that are kept for it. */
export function watchForms() {
  document.addEventListener('input', ({ target }) => {
    if (!(target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement)) return;
    if (target.matches(FIELDS)) keepDraft(target, target.value);
  });
  document.addEventListener('reset', ({ target }) => {
    const form = /** @type {HTMLFormElement} */ (target);
    for (const field of textsIn(form)) keepDraft(field, '');
    form.closest('[data-held]')?.remove();
  });
  // Enter in a kept form would send its text to what is gone.
  document.addEventListener(
    'submit',
    (event) => {
      if (!around(event, '[data-held]')) return;
      event.preventDefault();
      event.stopPropagation();
    },
    true,
  );
  document.addEventListener('click', (event) => {
    const button = around(event, '[data-held-act]');
    const held = button?.closest('[data-held]');
    if (!button || !held) return;
    if (button.dataset.heldAct === 'dismiss') {
      for (const field of textsIn(held)) keepDraft(field, '');
      return held.remove();
    }
    void copyTexts(button, textsIn(held));
  });
}

/** @param {Element} button @param {ReturnType<typeof textsIn>} fields */
async function copyTexts(button, fields) {
  try {
    await navigator.clipboard.writeText(fields.map(({ value }) => value).join('\n'));
    button.textContent = 'Copied';
  } catch {
    fields[0]?.select();
  }
}

/** @param {ChildNode} old @param {ChildNode} next */
function morph(old, next) {
  if (old.isEqualNode(next)) return;
  if (!(old instanceof Element) || !(next instanceof Element)) {
    if (old.nodeValue !== next.nodeValue) old.nodeValue = next.nodeValue;
    return;
  }
  for (const { name, value } of next.attributes)
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  // The user may have opened a part. A row with the focus would lose it without its place in the tab order.
  for (const { name } of [...old.attributes])
    if (!next.hasAttribute(name) && name !== 'open' && name !== 'tabindex') old.removeAttribute(name);
  // Another function draws this element's content.
  if (!old.hasAttribute('data-own')) morphChildren(old, [...next.childNodes]);
}

/** @param {Node} node */
function keyOf(node) {
  return node instanceof Element ? (node.getAttribute('data-key') ?? undefined) : undefined;
}

/** Lists the first rows and folds the rest, unless only one is left. @template T @param {T[]} rows @param {number} count @param {(part: T[]) => Element} list @param {string} [word] */
export function folded(rows, count, list, word = 'more') {
  const shown = rows.length > count + 1 ? count : rows.length;
  const rest = rows.slice(shown);
  return [
    list(rows.slice(0, shown)),
    rest.length > 0 &&
      h('details', { 'data-key': word }, h('summary', `${grouped(rest.length)} ${word}`), list(rest)),
  ];
}

/** Returns the attributes of a link that opens in a new tab; none if the URL is unsafe. @param {string | null} url */
export function external(url) {
  const isSafe = /^https?:\/\//.test(url ?? '');
  return isSafe ? { href: url, target: '_blank', rel: 'noopener noreferrer' } : {};
}

/** Finds the closest match at or above an event's target. @param {Event} event @param {string} selector @returns {HTMLElement | null} */
export function around({ target }, selector) {
  return target instanceof Element ? target.closest(selector) : null;
}

/** How many characters fit into two lines, with an age after them. */
const BRIEF = 60;
/** How many characters at the end of a text are never cut. */
const END = 16;

/** Returns whether a text has something to see, and not only spaces. @param {string} text */
export function isVisible(text) {
  return /[^\s\p{Cf}]/u.test(text);
}

/** Returns an index, or the one before if it would cut a character in two. @param {string} text @param {number} index */
export function wholeAt(text, index) {
  return (text.codePointAt(index - 1) ?? 0) > 0xffff ? index - 1 : index;
}

/** Returns a text on one line, cut in the middle where it is too long. @param {string} given @param {string} [kind] */
export function middle(given, kind = 'span.muted.where') {
  const text = given.replace(/\s+/g, ' ');
  const end = wholeAt(text, Math.max(text.length - END, Math.ceil(text.length / 2)));
  return h(`${kind}.middle`, { title: text }, h('span', text.slice(0, end)), h('span', text.slice(end)));
}

/** Returns a text, or two lines of a long one, with a title that has all of it. @param {string} text */
export function brief(text) {
  return text.length > BRIEF ? h('span.brief', { title: text }, text) : text;
}

/** Returns a sentence for a panel that is not set up, with its command. @param {string} text @param {string} fix */
export function hint(text, fix) {
  return h('p.muted', `${text} `, command(fix));
}

/** Returns a command with a copy button. The demo's acts on the demo's data, or says that it does not. @param {string} given */
export function command(given) {
  const text = typedHere(given);
  return h(
    'span.command',
    isDemo && !text.startsWith('steward demo') && h('span.muted', 'outside the demo: '),
    h('code', text),
    h('button', { class: 'copy', 'data-copy': text, 'aria-label': `Copy: ${text}` }, 'copy'),
  );
}

/** Handles all copy buttons, including buttons added later. A hidden line tells screen readers what was copied. */
export function watchCopies() {
  const announcement = h('p', { class: 'unseen', role: 'status' });
  document.body.append(announcement);
  document.addEventListener('click', (event) => {
    const button = around(event, '[data-copy]');
    if (button !== null) void copy(button, button.getAttribute('data-copy') ?? '', announcement);
  });
}

/** @param {Element} button @param {string} text @param {Element} announcement */
async function copy(button, text, announcement) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'copied';
  } catch {
    // Without clipboard access, select the text so that the user can copy it.
    const code = button.parentElement?.querySelector('code');
    if (code) getSelection()?.selectAllChildren(code);
    button.textContent = 'selected';
  }
  announcement.textContent = `${button.textContent}: ${text}`;
  setTimeout(() => (button.textContent = 'copy'), COPIED_MS);
}
