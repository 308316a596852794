// The last 30 days: a column for each day that opens it, and a table.

import { h, show } from './dom.js';
import { daysBefore, longDay, minutes, plural, shortDay } from './format.js';
import { byKind, fill, head, KINDS } from './kinds.js';

/** @typedef {import('../../src/lib/sense/record').DailyRecord} DailyRecord */

const COUNT = 30;
const HEIGHT = 64;

/**
 * Returns the last days up to today, oldest first.
 * @param {DailyRecord} today @param {readonly DailyRecord[]} recent
 * @returns {{ day: string, record: DailyRecord | undefined }[]}
 */
export function lastDays(today, recent) {
  const records = new Map(recent.map((record) => [record.date, record]));
  // A stored record of today would be older than the live one.
  records.set(today.date, today);
  return Array.from({ length: COUNT }, (_, i) => {
    const day = daysBefore(today.date, COUNT - 1 - i);
    return { day, record: records.get(day) };
  });
}

/**
 * @param {HTMLElement} place @param {HTMLElement} readout @param {HTMLElement} table
 */
export function daysStrip(place, readout, table) {
  /** @type {ReturnType<typeof lastDays>} */
  let days = [];
  let rest = '';
  // The strip is a single tab stop; the arrow keys move between days.
  let stop = '';

  /** @param {EventTarget | null} target */
  function dayAt(target) {
    return target instanceof Element
      ? (target.closest('[data-day]')?.getAttribute('data-day') ?? undefined)
      : undefined;
  }

  /** @param {string | undefined} day */
  function read(day) {
    const found = days.find((one) => one.day === day);
    readout.textContent = found === undefined ? rest : dayText(found.day, found.record);
  }

  place.addEventListener('pointerover', (event) => read(dayAt(event.target)));
  place.addEventListener('pointerleave', () =>
    read(dayAt(place.contains(document.activeElement) ? document.activeElement : null)),
  );
  place.addEventListener('focusin', (event) => read(dayAt(event.target)));
  place.addEventListener('focusout', () => read(undefined));
  place.addEventListener('keydown', (event) => {
    const open = days.filter(({ record }) => record !== undefined).map(({ day }) => day);
    const at = open.indexOf(dayAt(event.target) ?? '');
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: open.length - 1 }[event.key];
    const day = to === undefined ? undefined : open[Math.max(0, Math.min(open.length - 1, to))];
    if (day === undefined) return;
    event.preventDefault();
    stop = day;
    for (const link of place.querySelectorAll('a')) link.tabIndex = link.dataset.day === day ? 0 : -1;
    place.querySelector('a[tabindex="0"]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    /** @type {HTMLElement | null} */ (place.querySelector('a[tabindex="0"]'))?.focus();
  });

  return {
    /** @param {ReturnType<typeof lastDays>} next @param {string} shown the selected day */
    draw(next, shown) {
      days = next;
      const isStop = days.some(({ day, record }) => day === stop && record !== undefined);
      if (!isStop || !place.contains(document.activeElement)) stop = shown;
      const max = Math.max(60, ...days.map(({ record }) => record?.totalMinutes ?? 0));
      show(
        place,
        days.map(({ day, record }) =>
          column(day, record, { max, isShown: day === shown, isStop: day === stop }),
        ),
      );
      rest = summary(days);
      const active = place.contains(document.activeElement)
        ? document.activeElement
        : place.querySelector('[data-day]:hover');
      read(dayAt(active));
      showTable(table, days);
    },
  };
}

/** @param {ReturnType<typeof lastDays>} days */
function summary(days) {
  const recorded = days.filter(({ record }) => record !== undefined).length;
  const range = `${shortDay(days[0]?.day ?? '')} – ${shortDay(days[days.length - 1]?.day ?? '')}`;
  return recorded > 1 ? range : `${range} · no earlier records; a day is recorded at its end`;
}

/**
 * @param {string} day @param {DailyRecord | undefined} record
 * @param {{ max: number, isShown: boolean, isStop: boolean }} how
 */
function column(day, record, { max, isShown, isStop }) {
  const label = h('span', { class: 'date', 'aria-hidden': 'true' }, String(Number(day.slice(8))));
  if (record === undefined) {
    return h(
      'li',
      { 'data-key': day },
      h(
        'span',
        { class: 'day none', 'data-day': day },
        h('span', { class: 'unseen' }, dayText(day, record)),
        h('span', { class: 'mark', 'aria-hidden': 'true' }, '·'),
        label,
      ),
    );
  }
  let bottom = HEIGHT;
  const time = byKind(record);
  const parts = KINDS.map((kind) => {
    const height = (time[kind] / max) * HEIGHT;
    bottom -= height;
    return h('rect', { y: bottom.toFixed(2), width: '100%', height: height.toFixed(2), fill: fill(kind) });
  });
  return h(
    'li',
    { 'data-key': day },
    h(
      'a',
      {
        class: 'day',
        href: `/?day=${day}`,
        'data-day': day,
        tabindex: isStop ? 0 : -1,
        'aria-current': isShown && 'date',
        'aria-label': dayText(day, record),
      },
      h('svg', { height: HEIGHT, 'aria-hidden': 'true' }, parts),
      label,
    ),
  );
}

/** @param {string} day @param {DailyRecord | undefined} record */
function dayText(day, record) {
  if (record === undefined) return `${longDay(day)} · no record`;
  return [
    longDay(day),
    ...(record.backfilled === true
      ? ['time not recorded']
      : [`${minutes(record.totalMinutes)} tracked`, `creation ${minutes(record.creationMinutes)}`]),
    plural(record.commits.count, 'commit'),
    plural(record.sessions.count, 'session'),
  ].join(' · ');
}

/** @param {Element} place @param {ReturnType<typeof lastDays>} days */
function showTable(place, days) {
  show(
    place,
    head(['day', 'tracked', ...KINDS, 'commits', 'sessions']),
    h(
      'tbody',
      {},
      [...days].reverse().map(({ day, record }) => {
        if (record === undefined)
          return h(
            'tr',
            { 'data-key': day },
            h('th', { scope: 'row' }, shortDay(day)),
            h('td', { colspan: 6, class: 'muted' }, 'no record'),
          );
        const time = byKind(record);
        return h(
          'tr',
          { 'data-key': day },
          h('th', { scope: 'row' }, h('a', { href: `/?day=${day}` }, shortDay(day))),
          [record.totalMinutes, ...KINDS.map((kind) => time[kind])].map((value) =>
            h('td', {}, minutes(value)),
          ),
          h('td', {}, String(record.commits.count)),
          h('td', {}, String(record.sessions.count)),
        );
      }),
    ),
  );
}
