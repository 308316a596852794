// The page /status: steward's parts, its jobs, and the notifications with buttons to retry and mute.

import { isDemo, isSignedIn, post } from './daemon.js';
import { around, byId, command, folded, h, show } from './dom.js';
import { clock, moment, plural } from './format.js';
import { follow } from './live.js';
import { drawPanels } from './notes.js';
import { jobPart, partsOf, rank, STATES } from './status-parts.js';

/** @typedef {import('./status-parts.js').Status} Status */
/** @typedef {import('./status-parts.js').Part} Part */
/** @typedef {import('../../src/lib/daemon/notify-routes').NotifyReport} Report */

const SHOWN = 5;
/** The class of a state, by rank. */
const TONES = ['attention', '', 'muted', 'muted'];
const BAD = ['failed', 'expired', 'unknown'];

/** Notifications that this page has retried. @type {Set<string>} */
const retried = new Set();
/** The problem of the last change, the notification, and the text that it was beside. @type {string[]} */
let failure = [];
let revision = 0;

const { redraw, refresh } = follow(
  {
    ...{ status: '/api/status', sense: '/api/sense/status', work: '/api/work/status' },
    notify: '/api/notify',
  },
  ({ status, sense, work, notify }, { now, lostAt }) => {
    const minute = Math.floor(now / 60_000);
    const own = /** @type {Status | undefined} */ (status.data);
    const report = /** @type {Report | undefined} */ (notify.data);
    drawPanels([
      {
        name: 'Status',
        feeds: [status, sense, work],
        from: [status.data, sense.data, work.data, report, minute, lostAt],
        draw() {
          if (own === undefined) return;
          const [senseNow, workNow] = /** @type {any[]} */ ([sense.data, work.data]);
          const failed = report?.history.filter(isBad) ?? [];
          draw(own, partsOf(own, senseNow, workNow, now), failed, now, lostAt);
        },
      },
      {
        name: 'Notifications',
        feeds: [notify],
        from: [report, minute, isSignedIn(), revision, lostAt, notify.problem],
        draw() {
          if (report !== undefined) showNotifications(report, now, lostAt !== undefined);
          else if (notify.problem) show(byId('history'), h('p.muted', 'Unknown.'));
        },
      },
    ]);
  },
);

/** @param {Status} status @param {Part[]} parts @param {Report['history']} bad the failed notifications @param {number} now @param {number} [lostAt] */
function draw({ version, startedAt, memoryMiB, pid, jobs }, parts, bad, now, lostAt) {
  const rows = jobs.map((job) => jobPart(job, now)).sort((a, b) => rank(a) - rank(b));
  const needy = [...parts, ...rows].filter(needsYou).length;
  const failed = bad.length;
  const past = lostAt && `needed you at ${clock(lostAt)}`;
  const [needs, need] = past ? [past, past] : ['needs you', 'need you'];
  show(
    byId('facts'),
    needy + failed === 0 && `No part ${needs}.`,
    needy > 0 && [h('b', plural(needy, 'part')), ` ${needy === 1 ? needs : need}`],
    needy > 0 && failed > 0 && ', ',
    failed > 0 && h('a', { href: '#history' }, `${plural(failed, 'notification')} ${wordOf(bad)}`),
    needy + failed > 0 && '.',
  );
  show(byId('parts'), parts.map(partRow));
  const badJobs = rows.filter(needsYou);
  const next = jobs.flatMap(({ nextRun }) => nextRun ?? []).sort()[0];
  const words = badJobs.length > 0 ? `${badJobs.length} failed or late` : 'all on schedule';
  show(
    byId('jobs'),
    h(
      'details',
      { open: badJobs.length > 0 },
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
function needsYou(part) {
  return rank(part) === 0;
}

/** @param {Part} part */
function partRow(part) {
  const { id, label, state, text, fix } = part;
  const [dot, word] = STATES[state] ?? ['?', state];
  return h(
    'li',
    { 'data-key': id, 'data-state': state },
    h('h3', label),
    h('span', { class: TONES[rank(part)] }, h('span', { 'aria-hidden': 'true' }, dot), ` ${word}`),
    h(
      'p',
      { class: needsYou(part) ? 'why' : 'why muted' },
      /[.:]$/.test(text) || !fix ? text : `${text}:`,
      fix && [' ', command(fix)],
    ),
  );
}

/** @param {Report} report @param {number} now @param {boolean} isLost */
function showNotifications({ voice, muted: { muted, until }, history }, now, isLost) {
  const is = isLost ? 'was' : 'is';
  const end = until === null ? 'until you unmute' : `until ${moment(Date.parse(until), now)}`;
  const state = `The voice ${is} ${voice === 'on' && muted ? `muted ${end}` : voice}.`;
  const buttons = muted
    ? [button('unmute', 'Unmute')]
    : [button('mute', 'Mute for 1 h', { 'data-duration': '1h' }), button('mute', 'Mute')];
  show(
    byId('mute'),
    h(
      'p.links',
      h('span', state),
      voice === 'on' &&
        (isSignedIn() ? buttons : command(muted ? 'steward notify unmute' : 'steward notify mute 1h')),
      problemAt('', state),
    ),
    !isSignedIn() &&
      h('p', 'This page is read-only. To mute or retry, run: ', command('steward open status')),
  );
  const bad = history.filter(isBad);
  const isFirst = (/** @type {Report['history'][number]} */ entry) => isBad(entry) || retried.has(entry.id);
  const [first, rest] = [history.filter(isFirst), history.filter((entry) => !isFirst(entry))];
  const list = (/** @type {Report['history']} */ entries) =>
    h(
      'ul.sources.parts',
      entries.map((entry) => entryRow(entry, now)),
    );
  show(
    byId('history'),
    history.length === 0 && h('p.muted', 'No notifications yet.'),
    first.length > 0 && [
      h(
        'h3',
        { 'data-key': 'failed' },
        bad.length > 0 ? plural(bad.length, `${wordOf(bad)} notification`) : 'Retried',
      ),
      list(first),
    ],
    ...folded(rest, SHOWN, list, 'earlier'),
  );
}

/** Returns whether a channel failed and the notification can be retried. @param {Report['history'][number]} entry */
function isBad({ channels }) {
  return channels.some(({ result }) => BAD.includes(result));
}

/** Returns words for the notifications that failed: some may have arrived. @param {Report['history']} bad */
function wordOf(bad) {
  const isUnknown = (/** @type {Report['history'][number]} */ { channels }) =>
    channels.every(({ result }) => result === 'unknown' || !BAD.includes(result));
  if (!bad.some(isUnknown)) return 'failed';
  return bad.every(isUnknown) ? 'unconfirmed' : 'failed or unconfirmed';
}

/** @param {Report['history'][number]} entry @param {number} now */
function entryRow(entry, now) {
  const { id, at, title, text, channels, duplicateOf } = entry;
  const sent = channels
    .filter(({ result }) => result !== 'skipped')
    .map(
      ({ channel, result, reason }) =>
        `${channel} ${result === 'unknown' ? 'not confirmed' : result}${reason === null || result === 'delivered' ? '' : `: ${reason}`}`,
    )
    .join(' · ');
  const words = duplicateOf === null ? sent || 'not sent' : 'duplicate, not sent again';
  return h(
    'li',
    { 'data-key': id },
    h('h3', title === null ? text : `${title}: ${text}`),
    h('time', { class: 'muted small', datetime: at }, moment(Date.parse(at), now)),
    h(
      'p',
      { class: isBad(entry) ? 'attention why' : 'muted why' },
      h('span', words),
      ' ',
      isBad(entry) && retryOf(id),
      problemAt(id, words),
    ),
  );
}

/** Returns what sends a notification again. @param {string} id */
function retryOf(id) {
  if (isDemo) return '· The demo sends nothing; outside it, a button here sends it again.';
  return isSignedIn() ? button('retry', 'Retry', { 'data-id': id }) : command(`steward notify retry ${id}`);
}

/** Returns the last problem while the text that it was beside is unchanged. @param {string} id @param {string} text */
function problemAt(id, text) {
  return h('span', { role: 'status' }, failure[1] === id && failure[2] === text && failure[0]);
}

/** @param {string} act @param {string} text @param {Record<string, string>} [data] */
function button(act, text, data) {
  return h('button', { class: 'copy', 'data-act': act, ...data }, text);
}

document.addEventListener('click', (event) => {
  const pressed = around(event, 'button');
  const { act, id = '', duration } = pressed?.dataset ?? {};
  if (act === undefined) return;
  const text = pressed?.parentElement?.firstChild?.textContent ?? '';
  void post(`/api/notify/${act}`, act === 'retry' ? { id } : { duration }).then(async ({ problem }) => {
    failure = [` ${problem ?? ''}`, id, text];
    if (problem === undefined && act === 'retry') retried.add(id);
    revision += 1;
    await refresh();
    redraw();
    // The redraw runs before this frame and may remove the button.
    requestAnimationFrame(() => {
      if (pressed?.isConnected) return;
      const row = byId('history').querySelector(`[data-key="${CSS.escape(id)}"]`);
      if (!(row instanceof HTMLElement)) return byId('mute').querySelector('button')?.focus();
      row.tabIndex = -1;
      row.focus({ preventScroll: true });
    });
  });
});
