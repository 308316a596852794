// One row per source, and the schedule of captures.

import { command, h, show } from './dom.js';
import { ago, moment, plural, span } from './format.js';

/** @typedef {import('../../src/lib/sense/source').SourceStatus} SourceStatus */
/** @typedef {import('../../src/lib/sense/source').SenseStatus} SenseStatus */

/** A shape for each state, for people who cannot tell the colours apart. */
const DOTS = { ok: '●', idle: '○', off: '–', unsupported: '◇', error: '▲' };

/** @param {Element} place @param {SourceStatus[]} sources @param {number} now */
export function showSources(place, sources, now) {
  show(
    place,
    sources.map((source) => sourceRow(source, now)),
  );
}

/** @param {SourceStatus} source @param {number} now */
function sourceRow({ id, label, description, state, reason, eventsToday, lastEventTs }, now) {
  const needsYou = state === 'error' || state === 'unsupported';
  return h(
    'li',
    { 'data-key': id, 'data-state': state },
    h('h3', {}, label),
    h(
      'span',
      { class: `state ${state}` },
      h('span', { 'aria-hidden': 'true' }, DOTS[state] ?? '?'),
      ` ${state}`,
    ),
    h('p', { class: 'muted what' }, description),
    h('p', { class: 'figures' }, `${plural(eventsToday, 'event')} today · `, lastEvent(lastEventTs, now)),
    reason && state !== 'ok' && h('p', { class: needsYou ? 'attention why' : 'muted why' }, reason),
  );
}

/** @param {string | null} ts @param {number} now */
function lastEvent(ts, now) {
  return ts === null
    ? 'no events yet'
    : h('time', { datetime: ts, title: moment(Date.parse(ts), now) }, `last ${ago(Date.parse(ts), now)}`);
}

/** @param {Element} place @param {SenseStatus} status @param {string | undefined} zone @param {number} now */
export function showCadence(place, status, zone, now) {
  const { enabled, pollIntervalSec, lastCaptureTs, quarantined } = status;
  if (!enabled) {
    return show(
      place,
      h(
        'p',
        { class: 'attention' },
        'Capture is off (sense.enabled is false). Turn it on: ',
        command('steward config set sense.enabled true'),
      ),
    );
  }
  const last = lastCaptureTs === null ? undefined : Date.parse(lastCaptureTs);
  show(
    place,
    h(
      'p',
      {},
      `Capture every ${span(pollIntervalSec)} · `,
      last === undefined
        ? 'not run yet'
        : h('time', { datetime: lastCaptureTs, title: moment(last, now, zone) }, `last ${ago(last, now)}`),
    ),
    last === undefined &&
      h('p', { class: 'attention' }, 'No captures yet. Set it up: ', command('steward up')),
    last !== undefined &&
      isLate(status, now) &&
      h(
        'p',
        { class: 'attention' },
        `No capture since ${moment(last, now, zone)}. Try one: `,
        command('steward sense capture'),
      ),
    quarantined > 0 &&
      h('p', { class: 'muted' }, `${plural(quarantined, 'invalid line')} in sense/quarantine.`),
  );
}

/** Returns whether the last capture is older than three poll intervals and five minutes. @param {SenseStatus} status @param {number} now */
function isLate({ lastCaptureTs, pollIntervalSec }, now) {
  return (
    lastCaptureTs === null || now - Date.parse(lastCaptureTs) > Math.max(3 * pollIntervalSec, 300) * 1000
  );
}

/**
 * Returns when the next capture is due; undefined if none is expected.
 * @param {SenseStatus} status @param {number} now
 */
export function nextCapture(status, now) {
  if (!status.enabled || status.lastCaptureTs === null || isLate(status, now)) return undefined;
  return Math.max(now, Date.parse(status.lastCaptureTs) + status.pollIntervalSec * 1000);
}
