// The page /status: steward's parts, its jobs, and the notifications with buttons to retry and mute.

import { isSignedIn, post } from './daemon.js';
import { around, byId, command, folded, h, show } from './dom.js';
import { clock, moment, plural } from './format.js';
import { follow } from './live.js';
import { drawPanels } from './notes.js';
import { jobPart, needsYou, partsOf, STATES } from './status-parts.js';

/** @typedef {import('./status-parts.js').Status} Status */
/** @typedef {import('./status-parts.js').Part} Part */
/** @typedef {import('../../src/lib/daemon/notify-routes').NotifyReport} Report */

const SHOWN = 5;
const BAD = ['failed', 'expired', 'unknown'];

/** The result of the last change, by notification id or `mute`. @type {Map<string, string>} */
const results = new Map();
let revision = 0;

const { redraw, refresh } = follow(
  {
    ...{ status: '/api/status', sense: '/api/sense/status', work: '/api/work/status' },
    ...{ notify: '/api/notify', sessions: '/api/sessions' },
  },
  ({ status, sense, work, notify }, { now, lostAt }) => {
    const minute = Math.floor(now / 60_000);
    const own = /** @type {Status | undefined} */ (status.data);
    const report = /** @type {Report | undefined} */ (notify.data);
    drawPanels([
      {
        name: 'Status',
        feeds: [status, sense, work],
        from: [status.data, sense.data, work.data, minute, lostAt],
        draw() {
          if (own === undefined) return;
          const [senseNow, workNow] = /** @type {any[]} */ ([sense.data, work.data]);
          draw(own, partsOf(own, senseNow, workNow, now), now, lostAt);
        },
      },
      {
        name: 'Notifications',
        feeds: [notify],
        from: [report, minute, isSignedIn(), revision, lostAt],
        draw() {
          if (report !== undefined) showNotifications(report, now, lostAt !== undefined);
        },
      },
    ]);
  },
);

/** @param {Status} status @param {Part[]} parts @param {number} now @param {number} [lostAt] */
function draw({ version, startedAt, memoryMiB, pid, jobs }, parts, now, lostAt) {
  const rows = jobs.map((job) => jobPart(job, now)).sort((a, b) => rank(a) - rank(b));
  const needy = [...parts, ...rows].filter(({ state }) => needsYou(state)).length;
  const past = lostAt && `needed you at ${clock(lostAt)}`;
  const [needs, need] = past ? [past, past] : ['needs you', 'need you'];
  show(
    byId('facts'),
    needy === 0 ? `Nothing ${needs}.` : [h('b', plural(needy, 'item')), ` ${needy === 1 ? needs : need}.`],
  );
  show(byId('parts'), parts.map(partRow));
  const bad = rows.filter(({ state }) => needsYou(state));
  const next = jobs.flatMap(({ nextRun }) => nextRun ?? []).sort()[0];
  const words = bad.length > 0 ? `${bad.length} failed or late` : 'all on schedule';
  show(
    byId('jobs'),
    h(
      'details',
      { open: bad.length > 0 },
      h(
        'summary',
        `${plural(jobs.length, 'job')} · ${words}${next && !past ? ` · next at ${moment(Date.parse(next), now)}` : ''}`,
      ),
      h('ul.sources.parts', rows.map(partRow)),
    ),
  );
  show(
    byId('engine'),
    `Version ${version} · since ${moment(Date.parse(startedAt), now)} · ${Math.round(memoryMiB)} MiB · process ${pid} · ${location.host}`,
  );
}

/** @param {Part} part */
function rank({ state }) {
  return STATES[state]?.[2] ?? 0;
}

/** @param {Part} part */
function partRow({ id, label, state, text, fix }) {
  const [dot, word] = STATES[state] ?? ['?', state];
  return h(
    'li',
    { 'data-key': id, 'data-state': state },
    h('h3', label),
    h('span', { class: `state ${state}` }, h('span', { 'aria-hidden': 'true' }, dot), ` ${word}`),
    h('p', { class: needsYou(state) ? 'why' : 'why muted' }, text, fix && [' ', command(fix)]),
  );
}

/** @param {Report} report @param {number} now @param {boolean} isLost */
function showNotifications({ voice, muted: { muted, until }, history }, now, isLost) {
  const is = isLost ? 'was' : 'is';
  const end = until === null ? 'until you unmute' : `until ${moment(Date.parse(until), now)}`;
  const buttons = muted
    ? [button('unmute', 'Unmute', {})]
    : [button('mute', 'Mute for 1 h', { duration: '1h' }), button('mute', 'Mute', {})];
  show(
    byId('mute'),
    h(
      'p.links',
      h('span', `The voice ${is} ${voice === 'on' && muted ? `muted ${end}` : voice}.`),
      voice === 'on' &&
        (isSignedIn() ? buttons : command(muted ? 'steward notify unmute' : 'steward notify mute 1h')),
      h('span', { role: 'status' }, results.get('mute')),
    ),
    !isSignedIn() &&
      h('p', 'This page is read-only. To mute or retry, run: ', command('steward open status')),
  );
  const bad = history.filter(isBad);
  const rest = history.filter((entry) => !isBad(entry));
  const list = (/** @type {Report['history']} */ entries) =>
    h(
      'ul.sources.parts',
      entries.map((entry) => entryRow(entry, now)),
    );
  show(
    byId('history'),
    history.length === 0 && h('p.muted', 'No notifications yet.'),
    bad.length > 0 && [
      h('h3', { 'data-key': 'failed' }, plural(bad.length, 'failed notification')),
      list(bad),
    ],
    ...folded(rest, SHOWN, list, 'earlier'),
  );
}

/** Returns whether a channel failed and the notification can be retried. @param {Report['history'][number]} entry */
function isBad({ channels }) {
  return channels.some(({ result }) => BAD.includes(result));
}

/** @param {Report['history'][number]} entry @param {number} now */
function entryRow(entry, now) {
  const { id, at, title, text, channels, duplicateOf } = entry;
  const words = channels
    .filter(({ result }) => result !== 'skipped')
    .map(
      ({ channel, result, reason }) =>
        `${channel} ${result}${reason === null || result === 'delivered' ? '' : `: ${reason}`}`,
    );
  return h(
    'li',
    { 'data-key': id },
    h('h3', title === null ? text : `${title}: ${text}`),
    h('time', { class: 'muted small', datetime: at }, moment(Date.parse(at), now)),
    h(
      'p',
      { class: isBad(entry) ? 'attention why' : 'muted why' },
      duplicateOf === null ? words.join(' · ') || 'not sent' : 'duplicate, not sent again',
      ' ',
      isBad(entry) &&
        (isSignedIn() ? button('retry', 'Retry', { id }) : command(`steward notify retry ${id}`)),
      h('span', { role: 'status' }, results.get(id)),
    ),
  );
}

/** @param {string} act @param {string} text @param {Record<string, string>} body */
function button(act, text, body) {
  return h('button', { class: 'copy', 'data-act': act, 'data-body': JSON.stringify(body) }, text);
}

document.addEventListener('click', (event) => {
  const pressed = around(event, 'button');
  const { act, body = '{}' } = pressed?.dataset ?? {};
  if (act === undefined) return;
  const input = JSON.parse(body);
  void post(`/api/notify/${act}`, input).then(async ({ problem, data }) => {
    const done = data?.channels ? `Retrying on ${data.channels.join(', ')}.` : '';
    results.set(input.id ?? 'mute', ` ${problem ?? done}`);
    revision += 1;
    await refresh();
    redraw();
    // The redraw runs before this frame and may remove the button.
    requestAnimationFrame(() => {
      if (!pressed?.isConnected) byId('mute').querySelector('button')?.focus();
    });
  });
});
