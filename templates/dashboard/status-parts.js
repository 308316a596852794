// A list of steward's parts. Parts that need attention come first, with the command that fixes the problem.

import { typedHere } from './daemon.js';
import { ago, longDay, moment, plural, span } from './format.js';

/** @typedef {import('../../src/lib/daemon/status').DaemonStatus} Status */
/** @typedef {import('../../src/lib/sense/read').SenseStatus} Sense */
/** @typedef {import('../../src/lib/work/status').WorkStatus} Work */
/** @typedef {{ id: string, label: string, state: string, text: string, fix?: string | undefined }} Part */

/** A job or capture counts as late after this time, in ms. */
const LATE_MS = 60_000;

/** Each state's icon, label and rank. @type {Readonly<Record<string, readonly [string, string, number]>>} */
export const STATES = {
  warning: ['◇', 'warning', 0],
  unsupported: ['◇', 'unsupported', 0],
  error: ['▲', 'error', 0],
  failed: ['▲', 'failed', 0],
  late: ['▲', 'late', 0],
  ok: ['●', 'ok', 1],
  idle: ['○', 'idle', 2],
  off: ['–', 'off', 3],
};

/** @param {Pick<Part, 'state'>} part */
export function rank({ state }) {
  return STATES[state]?.[2] ?? 0;
}

/**
 * @param {Status | undefined} status @param {Sense | undefined} sense @param {Work | undefined} work @param {number} now
 * @returns {Part[]}
 */
export function partsOf(status, sense, work, now) {
  const modules = status?.modules ?? [];
  const isCapturing = sense?.enabled === true && sense.lastCaptureTs !== null;
  const parts = [
    ...(isCapturing
      ? [capturePart(sense, now), ...sense.sources.map((source) => sourcePart(source, now))]
      : []),
    ...modules
      .filter(({ id }) => id !== 'sense' || !isCapturing)
      .map(({ id, label, state, found, hint = '', fix }) => ({
        ...{ id, label, state, fix },
        text:
          id === 'work' && state === 'ok' && work
            ? workText(work, now)
            : typedHere(`${found} ${hint}`.trim()),
      })),
    ...(status ? [hookQueue(status.spool)] : []),
    ...(sense?.damagedDays ?? []).map((day) => damagedPart(day, sense?.lostDays.includes(day) ?? false)),
  ];
  return parts.sort((a, b) => rank(a) - rank(b));
}

/** @param {string} day @param {boolean} isLost @returns {Part} */
function damagedPart(day, isLost) {
  const part = { id: day, label: longDay(day), state: 'failed' };
  if (isLost)
    return { ...part, text: 'Recorded, unreadable. No readable event log is left to rebuild it from.' };
  return { ...part, text: 'Recorded, unreadable. Rebuild it:', fix: `steward sense rollup ${day}` };
}

/** @param {Sense} sense @param {number} now @returns {Part} */
function capturePart({ lastCaptureTs, pollIntervalSec, quarantined }, now) {
  const last = Date.parse(lastCaptureTs ?? '');
  const isLate = now - last > Math.max(3 * pollIntervalSec, 300) * 1000;
  const invalid = quarantined > 0 ? ` · ${plural(quarantined, 'invalid line')} in sense/quarantine` : '';
  return {
    ...{ id: 'capture', label: 'Capture', state: isLate ? 'late' : 'ok' },
    text: `every ${span(pollIntervalSec)} · ${lastAt(last, now)}${invalid}`,
    fix: isLate ? 'steward sense capture' : undefined,
  };
}

/** @param {Sense['sources'][number]} source @param {number} now @returns {Part} */
function sourcePart({ id, label, state, reason, eventsToday, lastEventTs }, now) {
  const last = lastEventTs === null ? 'no events yet' : lastAt(Date.parse(lastEventTs), now);
  const text = `${plural(eventsToday, 'event')} today · ${last}`;
  return { id, label, state, text: typedHere(state === 'ok' || !reason ? text : reason) };
}

/** @param {number} ms @param {number} now */
function lastAt(ms, now) {
  return `last ${ago(ms, now)}`.replace('last just', 'just');
}

/** @param {Work} work @param {number} now */
function workText({ repo, lastFetch, pollIntervalSeconds, issues }, now) {
  const read = lastFetch === null ? 'not fetched yet' : `fetched ${ago(Date.parse(lastFetch), now)}`;
  return `${repo} · ${issues.open} open · ${read} · every ${span(pollIntervalSeconds)}`;
}

/** @param {Status['spool']} spool @returns {Part} */
function hookQueue({ waiting, dead }) {
  return {
    ...{ id: 'spool', label: 'Hook events', state: dead > 0 ? 'failed' : waiting > 0 ? 'ok' : 'idle' },
    text: waiting + dead === 0 ? 'none queued' : `${waiting} queued, ${dead} failed`,
    fix: dead > 0 ? 'steward work retry' : undefined,
  };
}

/** Display names of the jobs. @type {Readonly<Record<string, string>>} */
const JOBS = {
  capture: 'Capture',
  work: 'Fetch GitHub issues',
  reminders: 'Reminders',
  triggers: 'Session notifications',
  agents: 'Agent watchdog',
  upgrade: 'Check for upgrades',
  usage: 'Read token usage',
  sweep: 'Sweep sessions',
  sync: 'Sync with other machines',
};

/** Returns a job's row. A job with nothing to do is idle. @param {Status['jobs'][number]} job @param {number} now @returns {Part} */
export function jobPart({ id, everySec, lastRun, lastOk, reason, nextRun }, now) {
  const lateMs = nextRun === null ? 0 : now - Date.parse(nextRun);
  const isLate = lateMs > LATE_MS;
  const state =
    lastOk === false ? 'failed' : isLate ? 'late' : lastRun === null || reason !== undefined ? 'idle' : 'ok';
  const words = [
    reason?.replace(/\.$/, ''),
    `every ${span(everySec)}`,
    lastRun === null ? 'not run yet' : lastAt(Date.parse(lastRun), now),
    nextRun === null
      ? 'running'
      : isLate
        ? `due ${ago(Date.parse(nextRun), now)}`
        : `next at ${moment(Date.parse(nextRun), now)}`,
  ];
  return { id, label: JOBS[id] ?? id, state, text: words.filter((word) => word).join(' · ') };
}
