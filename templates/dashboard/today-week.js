// Days as rows: a bar each, with its kinds in fixed order, and its figures as text.

import { h, show } from './dom.js';
import { daysBefore, minutes, plural, shortDay } from './format.js';
import { byKind, fill, KINDS } from './kinds.js';

/** @typedef {import('../../src/lib/sense/record').DailyRecord} DailyRecord */
/** @typedef {{ day: string, record: DailyRecord | undefined }} DayRow */

/**
 * Returns the days up to one, latest first. The last record of a day counts.
 * @param {string} to @param {number} count @param {readonly DailyRecord[]} list @returns {DayRow[]}
 */
export function daysUpTo(to, count, list) {
  const records = new Map(list.map((record) => [record.date, record]));
  return Array.from({ length: count }, (_, i) => daysBefore(to, i)).map((day) => ({
    day,
    record: records.get(day),
  }));
}

/** @param {Element} place @param {DayRow[]} days */
export function showDays(place, days) {
  const max = Math.max(60, ...days.map(({ record }) => record?.totalMinutes ?? 0));
  show(
    place,
    days.map(({ day, record }) =>
      h(
        'li',
        { 'data-key': day },
        dayLink(day, record),
        h('span', { class: 'figure' }, record === undefined ? 'no record' : timeOf(record)),
        bar(record, max),
        h('span', { class: 'muted' }, record && plural(record.commits.count, 'commit')),
      ),
    ),
  );
}

/** @param {string} day @param {DailyRecord | undefined} record */
export function dayLink(day, record) {
  const name = shortDay(day);
  return record === undefined
    ? h('span', { class: 'muted' }, name)
    : h('a', { href: `/sense?day=${day}` }, name);
}

/** @param {DailyRecord} record */
function timeOf(record) {
  return record.backfilled === true ? 'not recorded' : minutes(record.totalMinutes);
}

/** @param {DailyRecord | undefined} record @param {number} max */
function bar(record, max) {
  if (record === undefined) return h('span', {});
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
