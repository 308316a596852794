// The order and fill patterns of the kinds of time, and a bar for each day.

import { h, show } from './dom.js';
import { daysBefore, minutes, plural, shortDay } from './format.js';

/** @typedef {import('../../src/lib/time/record').RecordDocument} DailyRecord */
/** @typedef {{ day: string, record: DailyRecord | undefined }} DayRow */
/** @typedef {'creation' | 'consumption' | 'neutral'} Kind */

export const KINDS = /** @type {const} */ (['creation', 'consumption', 'neutral']);

/** Returns a kind's fill. The first call adds all fills to the page. @param {Kind} kind */
export function fill(kind) {
  if (document.getElementById('fill-creation') === null) document.body.prepend(fills());
  return `url(#fill-${kind})`;
}

/** @param {DailyRecord} record */
export function byKind({ creationMinutes, consumptionMinutes, neutralMinutes }) {
  return {
    creation: creationMinutes ?? 0,
    consumption: consumptionMinutes ?? 0,
    neutral: neutralMinutes ?? 0,
  };
}

/** @param {readonly string[]} names */
export function head(names) {
  return h(
    'thead',
    h(
      'tr',
      names.map((name) => h('th', { scope: 'col' }, name)),
    ),
  );
}

const SIZE = { width: 6, height: 6 };

/** Returns the patterns that distinguish the kinds without color. */
function fills() {
  const of = (/** @type {Kind} */ kind, /** @type {Node[]} */ ...parts) =>
    h('pattern', { id: `fill-${kind}`, ...SIZE, patternUnits: 'userSpaceOnUse' }, parts);
  const ground = () => h('rect', { class: 'page', ...SIZE });
  return h(
    'svg',
    { class: 'unseen', width: 0, height: 0, 'aria-hidden': 'true', focusable: 'false' },
    of('creation', h('rect', { class: 'creation', ...SIZE })),
    of('consumption', ground(), h('path', { class: 'consumption', d: 'M-3 3 3-3M-3 9 9-3M3 9 9 3' })),
    of(
      'neutral',
      ground(),
      h('rect', { class: 'neutral pale', ...SIZE }),
      h('rect', { class: 'neutral', width: 2, height: 2 }),
    ),
  );
}

/**
 * Returns the last `count` days up to `to`, latest first. If a day has several records, uses the last one.
 * @param {string} to @param {number} count @param {readonly DailyRecord[]} list @returns {DayRow[]}
 */
export function daysUpTo(to, count, list) {
  const records = new Map(list.map((record) => [record.date, record]));
  return Array.from({ length: count }, (_, i) => daysBefore(to, i)).map((day) => ({
    day,
    record: records.get(day),
  }));
}

/** @param {Element} place @param {DayRow[]} days @param {readonly string[]} [damaged] the days whose record can't be read */
export function showDays(place, days, damaged = []) {
  const max = Math.max(60, ...days.map(({ record }) => record?.totalMinutes ?? 0));
  // Nothing is known of the days before the first record.
  const first = days.findLastIndex(({ day, record }) => record !== undefined || damaged.includes(day));
  show(
    place,
    days
      .slice(0, first + 1)
      .map(({ day, record }) =>
        h(
          'li',
          { 'data-key': day },
          dayLink(day, record, damaged.includes(day)),
          damaged.includes(day)
            ? h('span.attention.unreadable', 'recorded, unreadable')
            : [
                h('span.figure', record === undefined ? 'no record' : timeOf(record)),
                bar(record, max),
                h('span.muted', record && plural(record.commits.count, 'commit')),
              ],
        ),
      ),
  );
}

/** @param {string} day @param {DailyRecord | undefined} record @param {boolean} [isDamaged] */
export function dayLink(day, record, isDamaged = false) {
  const name = shortDay(day);
  return record === undefined && !isDamaged
    ? h('span.muted', name)
    : h('a', { href: `/sense?day=${day}` }, name);
}

/** @param {DailyRecord} record */
function timeOf(record) {
  return record.totalMinutes === null ? 'not recorded' : minutes(record.totalMinutes);
}

/** @param {DailyRecord | undefined} record @param {number} max */
function bar(record, max) {
  if (record === undefined) return h('span');
  const time = byKind(record);
  let x = 0;
  const parts = KINDS.map((kind) => {
    const from = x;
    const width = (time[kind] / max) * 100;
    x += width;
    return h('rect', {
      x: `${from.toFixed(2)}%`,
      width: `${width.toFixed(2)}%`,
      height: 12,
      fill: fill(kind),
    });
  });
  return h('svg', { height: 12, 'aria-hidden': 'true' }, parts);
}
