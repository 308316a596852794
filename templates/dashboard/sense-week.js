// A table of seven days, with the hours by kind and the totals.

import { command, h, show } from './dom.js';
import { minutes } from './format.js';
import { byKind, dayLink, fill, head, KINDS } from './kinds.js';
import { sum } from './sense-time.js';

/** @typedef {import('./kinds.js').DailyRecord} DailyRecord */

const HEIGHT = 32;
/** The minimum range of hours, so that a short day doesn't fill the row. */
const HOURS = 8;
const NAMES = ['tracked', ...KINDS, 'gaps', 'agents working', 'agents waiting', 'commits', 'sessions'];

/** The cell of a row without figures has the whole row. */
const ALL = { colspan: NAMES.length + 1 };

/** Indexes a day's hours by number. An hour that occurs twice when clocks go back has 120 minutes. @param {DailyRecord} record */
function hoursOf({ hours }) {
  /** @type {{ at: number, creation: number, consumption: number, neutral: number, minutes: number, seen: number }[]} */
  const found = [];
  for (const time of hours) {
    const at = Number(time.start.slice(11, 13));
    const hour = (found[at] ??= { at, creation: 0, consumption: 0, neutral: 0, minutes: 0, seen: 0 });
    for (const kind of KINDS) hour[kind] += time[kind];
    hour.seen = hour.creation + hour.consumption + hour.neutral;
    // Rounding can make an hour exceed 60 minutes.
    hour.minutes = Math.max(hour.minutes + 60, hour.seen);
  }
  const isSeen = (/** @type {typeof found[number]} */ hour) => hour?.seen > 0;
  return found.slice(Math.max(0, found.findIndex(isSeen)), found.findLastIndex(isSeen) + 1).filter(Boolean);
}

/** Returns a day's figures. Only time between the first and last hour can count as not recorded. @param {DailyRecord} record */
function figuresOf(record) {
  const { totalMinutes, ledger, commits, sessions } = record;
  const gap = sum(
    hoursOf(record)
      .slice(1, -1)
      .map((hour) => hour.minutes - hour.seen),
  );
  const agents = [sum(ledger?.cells.working), sum(ledger?.cells.waiting)];
  return [totalMinutes ?? 0, ...Object.values(byKind(record)), gap, ...agents, commits.count, sessions.count];
}

/**
 * Shows the week and returns the time tracked and the time not recorded.
 * @param {Element} place a table @param {import('./kinds.js').DayRow[]} days latest first @param {readonly string[]} damaged
 * @param {readonly string[]} lost the damaged days that can't be rebuilt
 */
export function showWeek(place, days, damaged, lost) {
  const known = days.flatMap(({ record }) => record ?? []);
  const hours = known.flatMap(hoursOf).map(({ at }) => at);
  const first = Math.min(24 - HOURS, ...hours);
  const count = Math.max(HOURS, ...hours.map((at) => at - first + 1));
  const rows = known.map(figuresOf);
  const total = NAMES.map((_, i) => sum(rows.map((row) => row[i] ?? 0)));
  total[NAMES.length - 1] = new Set(
    known.flatMap(({ sessions }) => sessions.items.map((one) => one.session)),
  ).size;
  show(
    place,
    head(['day', 'by hour', ...NAMES]),
    h(
      'tbody',
      days.map(({ day, record }) =>
        h(
          'tr',
          { 'data-key': day },
          h('th', { scope: 'row' }, dayLink(day, record, damaged.includes(day))),
          damaged.includes(day)
            ? h('td', ALL, rebuildOf(day, lost.includes(day)))
            : h('td.strip', record ? {} : ALL, strip(record, first, count)),
          record && cells(figuresOf(record)),
        ),
      ),
      h('tr', h('th', { scope: 'row' }, 'all'), h('td.strip', axis(first, count)), cells(total)),
    ),
  );
  const [tracked = 0, , , , gap = 0] = total;
  return { tracked, gap };
}

/** @param {string} day @param {boolean} isLost */
function rebuildOf(day, isLost) {
  const words = h('span.attention', 'recorded, unreadable');
  return isLost ? words : [words, ' · rebuild: ', command(`steward sense rollup ${day}`)];
}

/** @param {number[]} figures */
function cells(figures) {
  return figures.map((value, i) => {
    const text = i < 7 ? minutes(value) : String(value);
    return h('td', { 'data-name': NAMES[i], class: value === 0 && 'zero' }, value === 0 ? '–' : text);
  });
}

/** @param {DailyRecord | undefined} record @param {number} first @param {number} count */
function strip(record, first, count) {
  const none = record?.backfilled ? 'your time: not recorded' : record ? 'no time tracked' : 'no record';
  if (!record?.totalMinutes) return h('span.muted', none);
  return h(
    'svg',
    { height: HEIGHT, 'aria-hidden': 'true' },
    hoursOf(record).flatMap((hour) => {
      const column = { x: `${((hour.at - first) / count) * 100}%`, width: `${90 / count}%` };
      let y = HEIGHT;
      return [
        h('rect', { ...column, class: 'gap', height: HEIGHT }),
        ...KINDS.map((kind) => {
          const height = (hour[kind] / hour.minutes) * HEIGHT;
          y -= height;
          return h('rect', { ...column, y, height, fill: fill(kind) });
        }),
      ];
    }),
  );
}

/** @param {number} first @param {number} count */
function axis(first, count) {
  const hours = Array.from({ length: count }, (_, i) =>
    h('text', { class: `n${i % 4}`, x: `${(i / count) * 100}%`, y: 16 }, String(first + i).padStart(2, '0')),
  );
  return h('svg', { height: 24, 'aria-hidden': 'true' }, hours);
}
