// The last seven days: a bar each, with its kinds in fixed order, and its figures as text.

import { h, show } from './dom.js';
import { daysBefore, minutes, plural, shortDay } from './format.js';
import { byKind, fill, KINDS } from './kinds.js';

/** @typedef {import('../../src/lib/sense/record').DailyRecord} DailyRecord */

const COUNT = 7;

/** @param {Element} place @param {DailyRecord} today @param {readonly DailyRecord[]} recent */
export function showWeek(place, today, recent) {
  const records = new Map(recent.map((record) => [record.date, record]));
  // A stored record of today would be older than the live one.
  records.set(today.date, today);
  const days = Array.from({ length: COUNT }, (_, i) => daysBefore(today.date, i));
  const max = Math.max(60, ...days.map((day) => records.get(day)?.totalMinutes ?? 0));
  show(
    place,
    days.map((day) => {
      const record = records.get(day);
      const name = shortDay(day);
      return h(
        'li',
        { 'data-key': day },
        record === undefined
          ? h('span', { class: 'muted' }, name)
          : h('a', { href: day === today.date ? '/' : `/?day=${day}` }, name),
        h('span', { class: 'figure' }, record === undefined ? 'no record' : timeOf(record)),
        bar(record, max),
        h('span', { class: 'muted' }, record === undefined ? '' : plural(record.commits.count, 'commit')),
      );
    }),
  );
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
