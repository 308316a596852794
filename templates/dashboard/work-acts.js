// Forms that a signed-in page shows in the open row and above the list. Typed text survives errors and redraws.

import { ask, isSignedIn, post } from './daemon.js';
import { around, command, h } from './dom.js';
import { moment, plural } from './format.js';
import { badgesOf } from './work-rows.js';

/** @typedef {import('../../src/lib/work/board').Item} Item */
/** @typedef {{ text: string, undo?: [act: string, body: object] }} Done */
/** @typedef {[name: string, label: string, choices?: readonly (string | null)[], first?: string]} Field */

const MOVES = ['queued', 'needs-triage', 'ready', 'in-progress', 'in-review', 'blocked', 'needs-human'];
const PRIORITIES = [null, 'P0', 'P1', 'P2', 'P3'];

/** Unsent text, by form and field. @type {Map<string, string>} */
const drafts = new Map();
/** The problem reported by each form. @type {Map<string, string>} */
const problems = new Map();
/** @type {Set<string>} */
const busy = new Set();
/** @type {Done | undefined} */
let done;
/** Captures that can be undone. @type {import('../../src/lib/work/capture/undo').Undoable[] | undefined} */
let captures;
let changed = () => {};

/** Handles all forms. @param {() => void} redraw @param {() => Promise<void>} refresh @param {(number: number) => Item | undefined} itemOf */
export function watchActs(redraw, refresh, itemOf) {
  changed = redraw;
  moveTo = async (number, status) => {
    const before = itemOf(number);
    const from = before?.status ? { from: before.status } : {};
    const data = await send(`move-${number}`, 'move', { number, status, ...from });
    done =
      data === undefined
        ? { text: `#${number} was not moved: ${refusalOf(number)}` }
        : doneOf('move', data, before);
    redraw();
    await refresh();
  };
  document.addEventListener('input', ({ target }) => {
    const field = /** @type {HTMLInputElement} */ (target);
    const key = field.form?.dataset.key;
    if (key !== undefined) drafts.set(`${key} ${field.name}`, field.value);
  });
  document.addEventListener('submit', (event) => {
    const form = /** @type {HTMLFormElement} */ (event.target);
    const { key, act, number } = form.dataset;
    if (key === undefined || act === undefined) return;
    event.preventDefault();
    if (busy.has(key)) return;
    // The daemon rejects a required field that is blank.
    const given = [...new FormData(form)].filter(
      ([name, value]) => String(value).trim() !== '' || form.querySelector(`[name=${name}]:required`),
    );
    /** @type {Record<string, any>} */
    const body = { ...(number && { number: Number(number) }), ...Object.fromEntries(given) };
    if (body['status'] !== 'blocked') delete body['reason'];
    if (act === 'undo') body['keys'] = (captures ?? []).map((capture) => capture.key);
    const before = itemOf(Number(number));
    void send(key, act, body).then(async (data) => {
      if (data === undefined) return redraw();
      for (const name of drafts.keys()) if (name.startsWith(`${key} `)) drafts.delete(name);
      // The form may be hidden or moved, so focus the row's title.
      const title = form.closest('.item')?.querySelector('[data-stop]');
      if (title instanceof HTMLElement && form.contains(document.activeElement)) title.focus();
      form.reset();
      if (act === 'undo') void loadCaptures();
      done = doneOf(act, data, before);
      redraw();
      await refresh();
    });
  });
  document.addEventListener('click', (event) => {
    const button = around(event, '#done button');
    const [act, body] = done?.undo ?? [];
    if (button === null || act === undefined || body === undefined) return;
    void send('undone', act, body).then(async (data) => {
      done = { text: data === undefined ? (problems.get('undone') ?? '') : 'Undone.' };
      redraw();
      await refresh();
    });
  });
}

/** Moves an issue, and shows the result above the list. @type {(number: number, status: string) => void} */
export let moveTo = () => {};

/** Returns why the last move of an issue was refused. @param {number} number */
export function refusalOf(number) {
  return problems.get(`move-${number}`);
}

/** Prepares the forms of an issue for a move that needs a reason. @param {number} number @param {string | undefined} status */
export function moveWith(number, status) {
  if (status !== undefined) drafts.set(`move-${number} status`, status);
}

/** @param {string} key @param {string} act @param {object} body */
async function send(key, act, body) {
  busy.add(key);
  changed();
  const { data, problem } = await post(`/api/work/${act}`, body);
  busy.delete(key);
  problems.delete(key);
  if (problem !== undefined) {
    problems.set(key, problem);
    done = undefined;
  }
  return data;
}

/** Returns a description of the change, and how to undo it. @param {string} act @param {any} data @param {Item | undefined} before @returns {Done} */
function doneOf(act, data, before) {
  const now = Date.now();
  const name = `#${data.number}`;
  const due = data.due ? ` Due ${moment(Date.parse(data.due), now)}.` : '';
  if (data.queued) return { text: `Queued until GitHub is reachable: ${data.title}.${due} ${data.reason}` };
  if (act === 'undo') return { text: `${plural(data.undone.length, 'capture')} undone.` };
  if (act === 'claim') return { text: `${name} is claimed by ${data.agent}.` };
  if (act === 'close') return { text: `${name} is closed.` };
  if (act === 'move') {
    const status = before?.status ?? 'queued';
    const isBack = MOVES.includes(status) && status !== data.status;
    return {
      text: `${name} is ${data.status}.`,
      ...(isBack && { undo: ['move', { number: data.number, status, from: data.status }] }),
    };
  }
  if (act === 'snooze') {
    const was = before?.due ?? '';
    const isBack = Date.parse(was) > now;
    return {
      text: `${name} snoozed.${due}`,
      ...(isBack && { undo: ['snooze', { number: data.number, when: was }] }),
    };
  }
  const missing = data.missingLabels.length > 0 ? ` Missing labels: ${data.missingLabels.join(', ')}.` : '';
  const silent = act === 'remind' && data.due === null ? ' No time found, so you will not be notified.' : due;
  return { text: `Added ${name}.${silent}${missing}` };
}

/** Returns the last change, with a button that undoes it. */
export function doneLine() {
  return done && [done.text, ' ', done.undo && h('button', { class: 'copy' }, 'Undo')];
}

/** @param {string} act @param {string} label @param {readonly Field[]} fields @param {number} [number] */
function form(act, label, fields, number) {
  const key = `${act}-${number ?? ''}`;
  return h(
    'form',
    { 'data-key': key, 'data-act': act, 'data-number': number },
    fields.map(([name, text, choices, first]) => {
      const draft = drafts.get(`${key} ${name}`) ?? first;
      const field = choices
        ? h(
            'select',
            { name },
            choices.map((choice) =>
              h('option', { value: choice ?? '', selected: choice === draft }, choice ?? 'none'),
            ),
          )
        : name === 'evidence'
          ? h('textarea', { name, rows: 1, required: true }, draft)
          : h('input', { name, value: draft, autocomplete: 'off', required: name !== 'reason' });
      return h('label', { class: name === 'reason' && name }, `${text} `, field);
    }),
    h('button', { class: 'copy', 'aria-disabled': busy.has(key) && 'true' }, label),
    problems.has(key) && h('p', { class: 'attention', role: 'alert' }, problems.get(key)),
  );
}

/** Returns the details shown under an open row. @param {Item} item @param {number} now */
export function details(item, now) {
  const { number, state, status, slug, due, type, createdAt, closedAt, updatedAt } = item;
  const isReminder = due !== null || type === 'reminder';
  const facts = [
    state === 'closed' ? 'closed' : (status ?? 'queued'),
    slug && `session ${slug}`,
    `added ${moment(Date.parse(createdAt), now)}`,
    `${closedAt === null ? 'changed' : 'closed'} ${moment(Date.parse(closedAt ?? updatedAt), now)}`,
  ];
  return h(
    'div',
    { class: 'details', 'data-key': 'details' },
    h('p.muted.small', h('span.narrow', `${badgesOf(item)} · `), facts.filter((fact) => fact).join(' · ')),
    state === 'open' &&
      isSignedIn() && [
        form('claim', 'Claim', [], number),
        form('move', 'Move', [['status', 'Status', MOVES, status ?? 'queued'], ['reason', 'Reason']], number), // prettier-ignore
        isReminder && form('snooze', 'Snooze', [['when', 'Until']], number),
        form('close', 'Close', [['evidence', 'Evidence']], number),
      ],
    command(`steward work ${state === 'open' ? 'claim' : 'show'} ${number}`),
  );
}

/** Returns the forms above the list, or instructions for signing in. @param {readonly string[]} types */
export function tools(types) {
  if (!isSignedIn())
    return h('p', 'This page is read-only. To edit issues, run: ', command('steward open work'));
  const kinds = [...new Set(['feature', 'bug', ...types])];
  return [
    menu('Add', form('add', 'Add', [['title', 'Title'], ['type', 'Type', kinds], ['priority', 'Priority', PRIORITIES]])), // prettier-ignore
    menu('Remind', form('remind', 'Remind', [['text', 'What and when']])),
    menu('Undo captures', undoForm()),
  ];
}

/** @param {string} name @param {...(Element | Element[])} children */
export function menu(name, ...children) {
  const open = h('summary', name);
  return h('details', { class: 'menu', name: 'menu', 'data-key': name }, open, h('div', ...children));
}

function undoForm() {
  if (!captures?.length) return h('p', captures ? 'No captures to undo.' : 'Loading …');
  const texts = captures.map(({ text, number }) =>
    h('li', text ?? '', number === null ? ' (not sent yet)' : ` (#${number})`),
  );
  return [h('p', 'Captured from the last prompt:'), h('ul', texts), form('undo', 'Undo', [])];
}

export async function loadCaptures() {
  const answer = await ask('/api/work/captures', undefined);
  captures =
    'problem' in answer
      ? []
      : /** @type {{ captures: NonNullable<typeof captures> }} */ (answer.data).captures;
  changed();
}
