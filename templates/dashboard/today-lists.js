// The lists on the day page: what is waiting for you, what is running, what was done and what is next.

import { isSignedIn, post } from './daemon.js';
import { around, command, external, folded, h, show } from './dom.js';
import { minutes, grouped, moment, plural } from './format.js';
import { plainTitle } from './work-rows.js';

/** @typedef {import('../../src/lib/sessions/rows').SessionRow} SessionRow */
/** @typedef {import('../../src/lib/inbox/row').InboxRow} InboxRow */
/** @typedef {import('../../src/lib/inbox/asks').ShownAsk} ShownAsk */
/** @typedef {import('../../src/lib/work/board').Item} Item */
/** @typedef {import('../../src/lib/work/board').BoardView} Board */
/** @typedef {import('../../src/lib/app/day').DayDocument} DayDocument */

/** The command that sets up a repository for issues. */
export const SET_UP_WORK = 'steward work setup OWNER/REPO --create';
const SHOWN = 8;
const WAITING_SHOWN = 5;
const RUNNING_SHOWN = 10;
const PRIORITIES = ['P0', 'P1', 'P2', 'P3'];

/**
 * Shows the inbox in its order.
 * @param {Element} place @param {InboxRow[]} rows @param {number} now @param {string} [lost]
 * @returns {number} the number of rows
 */
export function showWaitingList(place, rows, now, lost) {
  const items = rows.map((one) => {
    const { id, slug, kind, why, since: at } = one;
    const request = lost ? why.replace(/^asks/, 'asked') : why;
    const where = slug === undefined ? one.name : placeOf(one);
    // Pages that have not signed in get no names.
    const text = plainTitle(one.title ?? one.name ?? id);
    const age =
      kind === 'reminder' ? `due ${moment(Date.parse(at), now)}` : `${request} · ${sinceText(at, now)}`;
    const item = row(id, h('a', linkOf(one), text), [where === text ? '' : where, age]);
    item.append(buttonsOf(one));
    if (one.ask && isSignedIn()) item.append(formOf(one.ask));
    return item;
  });
  show(place, folded(items, WAITING_SHOWN, list));
  return rows.length;
}

/** The last problem of each row or ask. @type {Map<string, string>} */
const problems = new Map();
/** The number of refusals so far: the list is drawn again after each. */
export let refusals = 0;

/** Returns a button that posts to a path. @param {string} label @param {string} path @param {{ id: string } & Record<string, unknown>} given */
function sends(label, path, given) {
  return h('button', { type: 'button', 'data-send': JSON.stringify([path, given]) }, label);
}

/** Returns what can be done with a row: the buttons of a signed-in page, and its command. @param {InboxRow} row */
function buttonsOf({ id, kind, go, canEnd }) {
  const mark = '/api/inbox/mark';
  return h(
    'span.buttons',
    isSignedIn() && [
      kind === 'delivery' && sends('Retry', '/api/notify/retry', { id }),
      canEnd && sends('Done', mark, { id }),
      sends('Snooze 1 h', mark, { id, when: '1h' }),
    ],
    go && h('details', h('summary', { 'aria-label': 'Command' }, '…'), command(go)),
    problems.has(id) && h('span.attention', problems.get(id)),
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
    { 'data-ask': id },
    input !== null && h('pre', `${tool} ${input}`),
    questions.map((one) => h('p', second || !isQuestion ? [one.text, ...one.options].join(' · ') : one.text)),
    options.map((option, index) => button(option, { answer: String(index + 1) })),
    isQuestion && h('input', { 'aria-label': 'Answer', maxlength: '4000', required: true }),
    isQuestion && h('button', { type: 'submit' }, 'Answer'),
    !isQuestion && canAllow && button('Allow', { behavior: 'allow' }),
    canAllow && canAllowSession && button('Allow for this session', { behavior: 'allow', forSession: true }),
    button('Deny', { behavior: 'deny' }),
    h('span.attention', problems.get(id) ?? ''),
  );
}

const ANSWER = '/api/inbox/answer';

/** Sends the answers and marks that are given in a list. @param {Element} place @param {() => Promise<void>} refresh */
export function watchAnswers(place, refresh) {
  const send = async (/** @type {string} */ path, /** @type {{ id: string }} */ given) => {
    const { problem } = await post(path, given);
    problems.delete(given.id);
    if (problem !== undefined) {
      problems.set(given.id, problem);
      refusals += 1;
    }
    await refresh();
  };
  place.addEventListener('click', (event) => {
    const sent = around(event, '[data-send]')?.dataset.send;
    if (sent) void send(.../** @type {[string, { id: string }]} */ (JSON.parse(sent)));
  });
  place.addEventListener('submit', (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    const given = { id: form.dataset.ask ?? '', answer: form.querySelector('input')?.value };
    void send(ANSWER, given);
  });
}

/** Returns where a row's title leads. @param {InboxRow} row */
function linkOf({ id, slug, kind, url }) {
  if (slug !== undefined) return { href: `/sessions#${slug}` };
  if (id.startsWith('#')) return { href: `/work?q=%23${id.slice(1)}` };
  return url === null ? { href: kind === 'hosted' ? '/sessions' : '/status' } : external(url);
}

/** @param {string} key @param {Element} title @param {[where: string, why: string]} texts */
function row(key, title, [where, why]) {
  return h(
    'li',
    { 'data-key': key },
    h('b.name', title),
    h('span.muted.where', where),
    h('span.attention', why),
  );
}

/** @param {SessionRow} session */
export function sessionTitle({ givenName, task, title, name }) {
  return givenName ?? task ?? title ?? name;
}

/** @param {SessionRow} session */
function linkTo(session) {
  return h('a', { href: `/sessions#${session.slug}` }, sessionTitle(session));
}

/** @param {{ repo: string | null, branch: string | null }} place */
export function placeOf({ repo, branch }) {
  return [repo, branch].filter(Boolean).join(' · ');
}

/** Returns what a session is waiting for, and for how long. @param {SessionRow} session @param {number} now @param {boolean} isLost */
export function requestOf({ waitingFor, waitingSince }, now, isLost) {
  const request = isLost ? waitingFor?.replace(/^asks/, 'asked') : waitingFor;
  return `${request ?? 'your turn'} · ${sinceText(waitingSince, now)}`;
}

/** @param {string | null} iso @param {number} now */
function sinceText(iso, now) {
  return iso === null ? '' : minutes(Math.max(0, now - Date.parse(iso)) / 60_000);
}

/** @param {Element} place @param {SessionRow[]} sessions @param {number} now @param {string} [lost] */
export function showRunning(place, sessions, now, lost) {
  const working = sessions.filter(({ status }) => status === 'working');
  show(
    place,
    working.length === 0
      ? h('p.muted', `No assistant session ${lost ? 'was' : 'is'} working.`)
      : folded(
          working.map((session) => {
            const phase = session.phase === 'native' ? null : session.phase;
            const facts = [placeOf(session), session.assistant, phase];
            const since = [session.activity, sinceText(session.startedAt, now)];
            return h(
              'li',
              { 'data-key': session.slug },
              h('b.name', linkTo(session)),
              h('span.muted.where', facts.filter(Boolean).join(' · ')),
              h('span.muted', since.filter(Boolean).join(' · ')),
              session.go && command(session.go),
            );
          }),
          RUNNING_SHOWN,
          list,
        ),
  );
}

/** Shows the day's commits and closed issues, latest first. @param {Element} place @param {DayDocument} day @param {(at: number) => string} clock */
export function showDone(place, { commits, closed, record }, clock) {
  const rows = [
    ...commits.map(({ at, repo, sha, subject }) => ({
      at,
      key: `${repo} ${sha}`,
      where: repo,
      text: subject,
    })),
    ...closed.map(({ at, number, title }) => ({
      at,
      key: `#${number}`,
      where: `#${number}`,
      text: `closed: ${title}`,
    })),
  ].sort((a, b) => b.at - a.at);
  const nodes = rows.map(({ at, key, where, text }) =>
    h(
      'li',
      { 'data-key': key, title: key },
      h('span.muted', clock(at)),
      h('span.muted.repo', where),
      h('span.name', text),
    ),
  );
  const none =
    record.commits.count === 0
      ? 'No commits.'
      : `${plural(record.commits.count, 'commit')}; the details were deleted.`;
  show(
    place,
    rows.length === 0 ? h('p.muted', none) : folded(nodes, SHOWN, (part) => h('ul.done', part), 'earlier'),
  );
}

/** @param {Element[]} rows */
function list(rows) {
  return h('ul.rows', { 'data-rows': true }, rows);
}

/** Returns when an issue is due, or what is known of it besides its title. @param {Pick<Item, 'number' | 'title' | 'lane' | 'due'>} item @param {number} now */
function stateOf({ number, title, lane, due }, now) {
  if (due !== null) return `due ${moment(Date.parse(due), now)}`;
  if (lane === 'In-Progress') return 'in progress';
  return plainTitle(title) === `#${number}` ? 'queued' : `#${number}`;
}

/** Shows the issues that are due, in progress or ready. @param {Element} place @param {Board | undefined} board @param {number} now @param {string} [lost] */
export function showNext(place, board, now, lost) {
  const rankOf = (/** @type {Item} */ { due, lane, priority }) => {
    // Items with a deadline come first, earliest deadline first.
    if (due !== null) return Date.parse(due) / 1e14;
    const level = PRIORITIES.indexOf(priority ?? '');
    return (lane === 'In-Progress' ? 1 : 10) + (level === -1 ? PRIORITIES.length : level);
  };
  const isNext = (/** @type {Item} */ { state, lane, due }) => {
    if (state !== 'open') return false;
    if (due !== null) return Date.parse(due) > now && Date.parse(due) < now + 86_400_000;
    return lane === 'In-Progress' || lane === 'Queued';
  };
  const items = board?.items ?? [];
  const next = items.filter(isNext).sort((a, b) => rankOf(a) - rankOf(b) || a.number - b.number);
  show(
    place,
    board?.setupRequired
      ? h('li.muted', 'To track your tasks, run: ', command(SET_UP_WORK))
      : next.length === 0 && h('li.muted', `Nothing ${lost ? 'was' : 'is'} due, in progress or queued.`),
    next
      .slice(0, SHOWN)
      .map(({ number, title, url, priority, lane, due }) =>
        h(
          'li',
          { 'data-key': String(number), class: 'issue' },
          h('span.muted', priority ?? ''),
          h('a', external(url), plainTitle(title)),
          h('span.muted', stateOf({ number, title, lane, due }, now)),
        ),
      ),
    next.length > SHOWN && h('li.muted', h('a', { href: '/work' }, `${grouped(next.length - SHOWN)} more`)),
  );
}
