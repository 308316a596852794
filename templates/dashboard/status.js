// The page /status: modules with the fix for each problem, jobs and the outbox.

import { byId, command, h, show } from './dom.js';
import { ago, minutes, moment, plural, span } from './format.js';
import { follow } from './live.js';
import { showWaiting } from './nav.js';
import { drawPanels } from './notes.js';

/** @typedef {import('../../src/lib/daemon/status').DaemonStatus} Status */

const STATES = { ok: ['●', 'ok'], off: ['–', 'off'], 'needs-you': ['◇', 'needs you'], error: ['▲', 'error'] };

/** Names of the jobs for people. @type {Readonly<Record<string, string>>} */
const JOBS = {
  capture: 'Capture',
  work: 'Poll the work repository',
  reminders: 'Send reminders',
  triggers: 'Session notifications',
  upgrade: 'Check for an upgrade',
};

follow({ status: '/api/status' }, ({ status: feed }) => {
  const now = Date.now();
  const status = /** @type {Status | undefined} */ (feed.data);
  drawPanels(byId('notes'), [
    {
      name: 'Status',
      feeds: [feed],
      from: [status, Math.floor(now / 60_000)],
      draw() {
        if (status !== undefined) draw(status, now);
      },
    },
  ]);
});

/** @param {Status} status @param {number} now */
function draw(status, now) {
  showWaiting(status.sessions.filter(({ waiting }) => waiting).length);
  showFacts(status, now);
  show(byId('modules'), status.modules.map(moduleRow));
  const { jobs } = status;
  show(byId('jobs'), jobs.length === 0 ? empty('No jobs.') : jobs.map((job) => jobRow(job, now)));
  show(byId('outbox'), outbox(status));
}

/** @param {Status} status @param {number} now */
function showFacts({ version, startedAt, uptimeSec, memoryMiB, pid, modules }, now) {
  const needy = modules.filter(({ state }) => state === 'needs-you' || state === 'error').length;
  show(
    byId('facts'),
    h('b', {}, `steward ${version}`),
    ` running since ${moment(Date.parse(startedAt), now)} (`,
    h('b', {}, minutes(uptimeSec / 60)),
    `), ${Math.round(memoryMiB)} MiB, process ${pid}`,
    needy > 0 &&
      h('span', {}, '; ', h('b', {}, plural(needy, 'module')), ` need${needy === 1 ? 's' : ''} you`),
    '.',
  );
}

/** @param {Status['modules'][number]} module */
function moduleRow({ id, label, state, reason, fix }) {
  const [dot, word] = STATES[state] ?? ['?', state];
  return h(
    'li',
    { 'data-key': id, 'data-state': state },
    h('h3', {}, label),
    h('span', { class: `state ${state}` }, h('span', { 'aria-hidden': 'true' }, dot), ` ${word}`),
    reason && h('p', { class: 'muted why' }, reason),
    fix && h('p', { class: 'why' }, command(fix)),
  );
}

/** @param {Status['jobs'][number]} job @param {number} now */
function jobRow({ id, everySec, lastRun, lastOk, reason, nextRun }, now) {
  const failed = lastOk === false;
  return h(
    'li',
    { 'data-key': id },
    h('h3', {}, JOBS[id] ?? id),
    h(
      'span',
      { class: `state ${failed ? 'error' : lastRun === null ? 'idle' : 'ok'}` },
      h('span', { 'aria-hidden': 'true' }, failed ? '▲' : lastRun === null ? '○' : '●'),
      failed ? ' failed' : lastRun === null ? ' not run yet' : ' ok',
    ),
    h(
      'p',
      { class: 'muted why' },
      [
        `every ${span(everySec)}`,
        lastRun === null ? '' : `last ${ago(Date.parse(lastRun), now)}`,
        nextRun === null ? 'running' : `next at ${moment(Date.parse(nextRun), now)}`,
      ]
        .filter(Boolean)
        .join(' · '),
    ),
    reason && h('p', { class: failed ? 'attention why' : 'muted why' }, reason),
  );
}

/** @param {Status} status */
function outbox({ outbox: { waiting, failed }, spool }) {
  return [
    waiting + failed === 0
      ? h('p', { class: 'muted' }, 'No pending notifications.')
      : h('p', {}, h('b', {}, String(waiting)), ' waiting · ', h('b', {}, String(failed)), ' failed'),
    failed > 0 && h('p', { class: 'why' }, 'Failed deliveries: ', command('steward notify history')),
    h(
      'p',
      { class: 'muted' },
      spool.waiting + spool.dead === 0
        ? 'Hook queue empty.'
        : `Hook queue: ${spool.waiting} waiting, ${spool.dead} given up.`,
    ),
  ];
}

/** @param {string} text */
function empty(text) {
  return h('li', { class: 'muted' }, text);
}
