// What is waiting for you, with the buttons that deal with it. Text that was typed survives: dom.js keeps the form.
// Rows keep their places while the pointer is at work among them.

import { isSignedIn, post } from './daemon.js';
import { around, brief, byId, command, draftForms, external, h, hasText, middle, show } from './dom.js';
import { grouped, moment } from './format.js';
import { list, newsAge, placeOf, sinceText } from './today-lists.js';
import { plainTitle } from './work-rows.js';

/** @typedef {import('../../src/lib/inbox/row').InboxRow} InboxRow */
/** @typedef {import('../../src/lib/inbox/asks').ShownAsk} ShownAsk */
/** @typedef {import('./today-lists.js').Names} Names */

const SHOWN = 5;
const ANSWER = '/api/inbox/answer';
const MARK = '/api/inbox/mark';
const RETRY = '/api/notify/retry';
const CLOSE = '/api/work/close';
const GO = '/api/go';
/** How long rows keep their places after the pointer was used. */
const HOLD_MS = 3000;

/** Whether all rows are shown. */
let isUnfolded = false;
/** The last problem of each row. @type {Map<string, string>} */
const problems = new Map();
/** The rows whose change was sent and not answered. @type {Set<string>} */
const busy = new Set();
/** The forms and commands that are shown, by key. @type {Set<string>} */
const opened = draftForms();
/** The result of the last change of each row. @type {Map<string, string>} */
const results = new Map();
/** The names of the deliveries that were sent again, until they fail again. @type {Map<string, string>} */
const retried = new Map();
/** The rows as they were last drawn. @type {InboxRow[]} */
let placed = [];
/** The number of changes so far: the lists are drawn again after each. */
export let changes = 0;
/** Whether the pointer is at work among the rows, so that none may move under it. */
export let isHeld = false;

/**
 * Shows the inbox in its order. A row with text that was not sent is never folded away.
 * @param {Element} place @param {InboxRow[]} wanted @param {Names} names @param {number} now @param {string} [lost]
 * @returns {number} the number of rows
 */
export function showWaitingList(place, wanted, names, now, lost) {
  const current = new Map(wanted.map((row) => [row.id, row]));
  for (const [id, name] of retried) {
    if (lost || !current.has(id)) continue;
    retried.delete(id);
    show(byId('did'), middle(`${name} · failed again`, 'span'));
  }
  const kept = isHeld ? placed.filter(({ id }) => current.has(id) || !hasText(place, id)) : [];
  const rest = wanted.filter((row) => !kept.some(({ id }) => id === row.id));
  placed = [...kept.map((row) => current.get(row.id) ?? row), ...rest];
  const rows = placed;
  const count = isUnfolded || rows.length <= SHOWN + 1 ? rows.length : SHOWN;
  const shown = rows.filter(({ id }, i) => i < count || hasText(place, id));
  const items = shown.map((one) => {
    const { id, slug, kind, why, since: at } = one;
    const request = lost ? why.replace(/^asks/, 'asked') : why;
    // The name of a question is a random id.
    const where = slug !== undefined ? placeOf(one) : one.ask ? '' : one.name;
    // Pages that have not signed in get no names.
    const text = names.get(slug ?? '') ?? (plainTitle(one.title ?? '') || one.name || id);
    const news = one.elsewhere ? ` · as of ${newsAge(one.elsewhere.asOf, now)}` : '';
    const age =
      kind === 'reminder'
        ? `due ${moment(Date.parse(at), now)}`
        : [brief(request), ` · ${sinceText(at, now)}${news}`];
    const isGone = !current.has(id);
    return h(
      'li',
      { 'data-key': id, class: isGone && 'gone', inert: isGone },
      h('b.name', h('a', linkOf(one), text)),
      isGone ? h('span', results.get(id) ?? 'no longer waiting') : h('span.attention', age),
      middle(where === text ? '' : where),
      controlsOf(one),
    );
  });
  const folded = rows.length - shown.length;
  const active = document.activeElement?.closest('li');
  show(
    place,
    list(items),
    folded > 0 && h('button.more', { 'data-key': 'more', 'data-unfold': true }, `${grouped(folded)} more`),
  );
  // A row that is gone takes no focus, but keeps its place for now.
  if (active?.matches('.gone') && place.contains(active)) focusBeside(active);
  return rows.length;
}

/** Moves the focus from a row to the next one, or the one before, or the page. @param {Element} row */
function focusBeside(row) {
  const rows = [...(row.parentElement?.children ?? [])];
  const at = rows.indexOf(row);
  const next = [...rows.slice(at), ...rows.slice(0, at).reverse()].find((one) => !one.matches('.gone'));
  const target = next?.querySelector('a[href], button') ?? document.querySelector('main');
  if (target instanceof HTMLElement) target.focus({ preventScroll: true });
}

/** Returns a button that posts to a path. @param {string} label @param {string} path @param {object} given */
function sends(label, path, given) {
  return h(
    'button',
    { type: 'button', 'data-send': JSON.stringify([path, given]), 'data-key': label },
    label,
  );
}

/**
 * Returns what can be done with a row: the buttons of a signed-in page, and below them the forms and the command that some
 * of the buttons show.
 * @param {InboxRow} row
 */
export function controlsOf(row) {
  const { id, kind, slug, canEnd, ask } = row;
  const answer = isSignedIn() && ask && formOf(ask);
  const evidence = isSignedIn() && /^#\d+$/.test(id) && evidenceForm(id);
  return [
    h(
      'span.buttons',
      { 'aria-busy': busy.has(id) && 'true' },
      slug === undefined &&
        !ask &&
        h('a.button', { ...linkOf(row), ...external(row.url), 'data-key': 'Go' }, 'Go'),
      slug !== undefined && goButton(row),
      answer && opens('Answer', answer),
      evidence && opens('Done', evidence),
      isSignedIn() && [
        kind === 'delivery' && sends('Retry', RETRY, { id }),
        canEnd && sends('Done', MARK, { id }),
        sends('Snooze 1 h', MARK, { id, when: '1h' }),
      ],
      commandButton(row),
    ),
    problemOf(id),
    answer,
    evidence,
    commandOf(row),
  ];
}

/** Returns the buttons of a session that is not waiting. @param {{ slug: string, go: string | null }} session */
export function goButtons(session) {
  return [
    h('span.buttons', goButton(session), commandButton(session)),
    problemOf(session.slug),
    commandOf(session),
  ];
}

/** Returns the button that shows a session's terminal, on the machine of the terminal only. @param {Pick<InboxRow, 'slug' | 'go' | 'elsewhere'>} session */
function goButton({ slug, go, elsewhere }) {
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(location.hostname);
  return go !== null && !elsewhere && isHere && isSignedIn() && sends('Go', GO, { slug });
}

/** Returns the command of a row, which its button shows. @param {{ go: string | null }} row */
function commandOf({ go }) {
  const part = go && command(go);
  if (part) for (const [name, value] of Object.entries(shownBy(go))) part.setAttribute(name, value);
  return part;
}

/** @param {{ go: string | null }} row */
function commandButton({ go }) {
  return go && opens('…', h('span', shownBy(go)), { 'aria-label': 'Command' });
}

/** @param {string} id */
function problemOf(id) {
  return (
    problems.has(id) && h('p.attention.problem', { 'data-key': 'problem', role: 'alert' }, problems.get(id))
  );
}

/** Returns the attributes of a part that a button shows. @param {string} key @returns {Record<string, string>} */
function shownBy(key) {
  return { 'data-key': key, ...(!opened.has(key) && { hidden: '' }) };
}

/** Returns a button that shows a part below the buttons, and hides it again. @param {string} label @param {Element} part @param {Record<string, string>} [more] */
function opens(label, part, more) {
  const key = part.getAttribute('data-key') ?? '';
  const state = { 'data-shows': key, 'aria-expanded': String(opened.has(key)) };
  return h('button', { type: 'button', 'data-key': label, ...state, ...more }, label);
}

/** Returns the form that closes an issue. @param {string} id */
function evidenceForm(id) {
  return h(
    'form.ask',
    { ...shownBy(`done ${id}`), 'data-number': id.slice(1) },
    h(
      'label',
      `What shows that ${id} is done? `,
      h('textarea', { rows: 1, maxlength: '4000', required: true }),
    ),
    h('button', { type: 'submit' }, `Close ${id}`),
  );
}

/** Returns what an ask shows, with a button for each answer. @param {ShownAsk} ask */
function formOf({ id, kind, tool, questions, input, canAllow, canAllowSession }) {
  const isQuestion = kind === 'ask' || kind === 'question';
  const [only, second] = questions;
  const options = second === undefined ? (only?.options ?? []) : [];
  const button = (/** @type {string} */ label, /** @type {object} */ given) =>
    sends(label, ANSWER, { id, ...given });
  return h(
    'form.ask',
    { ...shownBy(`answer ${id}`), 'data-ask': id },
    input !== null && h('pre', `${tool} ${input}`),
    questions.map((one) => h('p', second || !isQuestion ? [one.text, ...one.options].join(' · ') : one.text)),
    options.map((option, index) => button(option, { answer: String(index + 1) })),
    isQuestion &&
      h('label', 'Answer ', h('input', { maxlength: '4000', required: true, autocomplete: 'off' })),
    isQuestion && h('button', { type: 'submit' }, 'Send'),
    !isQuestion && canAllow && button('Allow', { behavior: 'allow' }),
    canAllow && canAllowSession && button('Allow for this session', { behavior: 'allow', forSession: true }),
    button('Deny', { behavior: 'deny' }),
  );
}

/** Returns the result of a change in words. @param {string} path @param {any} given @param {any} data */
function resultOf(path, given, data) {
  if (path === GO) return `shown in ${data.via}, ${data.target}`;
  if (path === RETRY) return `sending again: ${data.channels.join(', ')}`;
  if (path === CLOSE) return 'closed';
  if (path === MARK)
    return data.until === null ? 'done' : `snoozed until ${moment(Date.parse(data.until), Date.now())}`;
  return given.behavior === 'deny' ? 'denied' : 'answered';
}

/**
 * Sends what is pressed in a list, and shows the result. While the pointer is used in it, rows keep their places.
 * @param {Element} place @param {() => Promise<void>} refresh @param {() => void} redraw
 */
export function watchActs(place, refresh, redraw) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  for (const type of ['pointermove', 'pointerdown'])
    place.addEventListener(type, () => {
      isHeld = true;
      clearTimeout(timer);
      timer = setTimeout(() => {
        isHeld = false;
        changes += 1;
        redraw();
      }, HOLD_MS);
    });
  /** @param {Element} source @param {string} path @param {object} given */
  const send = async (source, path, given) => {
    const row = source.closest('li');
    const key = row?.dataset.key ?? '';
    if (busy.has(key)) return;
    const name = row?.querySelector('.name')?.textContent;
    const say = (/** @type {string} */ text) => show(byId('did'), middle(`${name} · ${text}`, 'span'));
    busy.add(key);
    problems.delete(key);
    changes += 1;
    say('sending …');
    redraw();
    const { data, problem } = await post(path, given);
    busy.delete(key);
    changes += 1;
    if (problem === undefined) {
      const result = resultOf(path, given, data);
      results.set(key, result);
      say(result);
      const form = source.closest('form');
      const own = form?.dataset.key ?? '';
      // The form is hidden, so its focus goes back to the button that showed it.
      const button = form?.contains(document.activeElement) && row?.querySelector(`[data-shows="${own}"]`);
      if (button instanceof HTMLElement) button.focus({ preventScroll: true });
      form?.reset();
      opened.delete(own);
    } else {
      problems.set(key, problem);
      show(byId('did'));
    }
    await refresh();
    if (path !== RETRY || problem !== undefined) return;
    retried.set(key, name ?? '');
    changes += 1;
    redraw();
  };
  place.addEventListener('click', (event) => {
    const sent = around(event, '[data-send]');
    const [path, given] = JSON.parse(sent?.dataset.send ?? '[]');
    if (sent) void send(sent, path, given);
    const button = around(event, '[data-shows]');
    if (button) toggle(button, button.dataset.shows ?? '');
    if (!around(event, '[data-unfold]')) return;
    isUnfolded = true;
    changes += 1;
    void refresh();
  });
  place.addEventListener('submit', (event) => {
    const form = /** @type {HTMLFormElement} */ (event.target);
    if (!form.matches('.ask')) return;
    event.preventDefault();
    const { ask: id, number } = form.dataset;
    const text = form.querySelector('textarea')?.value;
    if (number) void send(form, CLOSE, { number: Number(number), evidence: text });
    else void send(form, ANSWER, { id, answer: form.querySelector('input')?.value });
  });
}

/** Shows or hides a part of a row. @param {HTMLElement} button @param {string} key */
function toggle(button, key) {
  if (!opened.delete(key)) opened.add(key);
  const part = button.closest('li')?.querySelector(`:scope > [data-key="${CSS.escape(key)}"]`);
  if (!(part instanceof HTMLElement)) return;
  part.hidden = !opened.has(key);
  button.setAttribute('aria-expanded', String(!part.hidden));
  const field = part.querySelector('input, textarea');
  if (field instanceof HTMLElement && !part.hidden) field.focus({ preventScroll: true });
}

/** Returns where a row's title leads. @param {InboxRow} row */
function linkOf({ id, slug, kind, url, ask }) {
  if (slug !== undefined) return { href: `/sessions#${slug}` };
  // A question has its form.
  if (ask) return {};
  if (id.startsWith('#')) return { href: `/work?q=%23${id.slice(1)}` };
  return url === null ? { href: kind === 'hosted' ? '/sessions' : '/status' } : external(url);
}
