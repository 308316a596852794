// Weeks and months beside the mean of the four before.

import { h, show } from './dom.js';
import { daysBefore, minutes, shortDay } from './format.js';
import { head } from './kinds.js';
import { sum } from './sense-time.js';

/** @typedef {import('../../src/lib/daemon/routes').DayTotals} Totals */
/** @typedef {import('./kinds.js').DailyRecord} DailyRecord */

const PERIODS = 4;
/** @type {readonly [name: string, key: Exclude<keyof Totals, 'date'>][]} */
const FIGURES = [
  ['tracked', 'totalMinutes'],
  ['creation', 'creationMinutes'],
  ['consumption', 'consumptionMinutes'],
  ['neutral', 'neutralMinutes'],
  ['agents working', 'workingMinutes'],
  ['agents waiting', 'waitingMinutes'],
  ['commits', 'commits'],
];

/** Returns a record's totals, as the daemon does. @param {DailyRecord} record @returns {Totals} */
export function totalsOf({ ledger, commits, ...record }) {
  const { date, totalMinutes, creationMinutes, consumptionMinutes, neutralMinutes } = record;
  return {
    ...{ date, totalMinutes, creationMinutes, consumptionMinutes, neutralMinutes },
    workingMinutes: sum(ledger?.cells.working),
    waitingMinutes: sum(ledger?.cells.waiting),
    commits: commits.count,
  };
}

/**
 * Shows a period beside the mean of the four before. Periods without a record, or in which recording began, don't count.
 * @param {Element} place @param {Totals[]} all @param {string} to @param {number} length in days @param {[string, string]} names
 */
export function showCompared(place, all, to, length, [now, before]) {
  // If a day has several records, the last one counts.
  const records = new Map(all.map((one) => [one.date, one]));
  const periods = Array.from({ length: PERIODS + 1 }, (_, i) =>
    Array.from({ length }, (_, j) => records.get(daysBefore(to, i * length + j)) ?? []).flat(),
  );
  const [current = [], ...earlier] = periods;
  // The period in which recording began is not whole.
  const first = [...records.keys()].sort()[0] ?? to;
  const known = earlier.filter(
    (period, i) => period.length > 0 && daysBefore(to, (i + 2) * length - 1) >= first,
  );
  const name = known.length === PERIODS ? before : `${before}, ${known.length} recorded`;
  if (known.length === 0) {
    const missing = `Recorded since ${shortDay(first)}. A comparison needs ${length} recorded days before ${now}.`;
    return show(place, h('p.muted', missing));
  }
  show(
    place,
    h(
      'table.figures',
      head(['total', now, name]),
      h(
        'tbody',
        FIGURES.map(([label, key]) => {
          const total = (/** @type {Totals[]} */ period) => sum(period.map((one) => one[key] ?? 0));
          const text = (/** @type {number} */ value) =>
            key === 'commits' ? String(Math.round(value)) : minutes(value);
          return h(
            'tr',
            h('th', { scope: 'row' }, label),
            h('td', text(total(current))),
            h('td', text(sum(known.map(total)) / known.length)),
          );
        }),
      ),
    ),
  );
}
