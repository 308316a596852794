// One column per hour, stacked by kind. Hover, touch or the arrow keys show an hour's figures.

import { h, show } from './dom.js';
import { hourName, minutes } from './format.js';
import { fill, head, KINDS } from './kinds.js';

/** @typedef {import('../../src/lib/sense/record').DailyRecord} DailyRecord */
/** @typedef {DailyRecord['hours']} Hours */

/** Heights in pixels: the columns, the space above them, and the labels below. */
const HEIGHT = 176;
const TOP = 8;
const NAMES = 24;
/** @type {Record<number, string>} */
const SCALE = { 0: '0', 30: '30 m', 60: '1 h' };

/** @param {HTMLElement} place @param {HTMLElement} readout @param {HTMLElement} table */
export function hoursPlot(place, readout, table) {
  /** @type {Hours} */
  let hours = [];
  let rest = '';
  /** @type {number | undefined} the hour whose figures are shown */
  let at;

  /** @param {number | undefined} index */
  function read(index) {
    at = index !== undefined && index < hours.length ? index : undefined;
    for (const column of place.querySelectorAll('[data-hour]'))
      column.classList.toggle('at', column.getAttribute('data-hour') === String(at));
    readout.textContent = at === undefined ? rest : hourText(hours, at);
    place.setAttribute('aria-valuemax', String(Math.max(0, hours.length - 1)));
    place.setAttribute('aria-valuenow', String(at ?? firstSeen(hours)));
    place.setAttribute('aria-valuetext', hourText(hours, at ?? firstSeen(hours)));
  }

  /** @param {Event} event */
  function point({ target }) {
    const hour =
      target instanceof Element ? target.closest('[data-hour]')?.getAttribute('data-hour') : undefined;
    if (hour !== undefined && hour !== null) read(Number(hour));
  }

  place.addEventListener('pointerover', point);
  place.addEventListener('pointerdown', point);
  place.addEventListener('pointerleave', ({ pointerType }) => {
    // Lifting a finger also fires this; keep its hour shown.
    if (pointerType === 'mouse' && document.activeElement !== place) read(undefined);
  });
  place.addEventListener('focus', () => {
    if (at === undefined && place.matches(':focus-visible')) read(firstSeen(hours));
  });
  place.addEventListener('blur', () => read(undefined));
  place.addEventListener('keydown', (event) => {
    const from = at ?? -1;
    const last = hours.length - 1;
    const to = {
      ArrowRight: from + 1,
      ArrowUp: from + 1,
      ArrowLeft: from - 1,
      ArrowDown: from - 1,
      Home: 0,
      End: last,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    read(Math.max(0, Math.min(last, to)));
  });

  return {
    /** @param {DailyRecord} record */
    draw(record) {
      hours = record.hours;
      rest = summary(record);
      show(place, columns(hours, at));
      read(at);
      showTable(table, hours);
    },
  };
}

/** Returns the text shown while no hour is selected. @param {DailyRecord} record */
function summary({ hours, totalMinutes }) {
  const first = hours.findIndex(isSeen);
  const last = hours.findLastIndex(isSeen);
  if (first === -1) return 'No tracked time.';
  return `${minutes(totalMinutes)} tracked between ${hourName(hours, first)} and ${endName(hours, last)}`;
}

/** @param {Hours} hours @param {number} index */
function hourText(hours, index) {
  const hour = hours[index];
  if (hour === undefined) return '';
  const seen = KINDS.filter((kind) => hour[kind] > 0).map((kind) => `${kind} ${minutes(hour[kind])}`);
  return `${hourName(hours, index)}–${endName(hours, index)} · ${seen.join(' · ') || 'nothing tracked'}`;
}

/** @param {Hours} hours @param {number} index */
function endName(hours, index) {
  const end = Date.parse(hours[index]?.start ?? '') + 3_600_000;
  if (end > Date.now() && end - 3_600_000 < Date.now()) return 'now';
  return index + 1 < hours.length ? hourName(hours, index + 1) : '24:00';
}

/** @param {Hours[number]} hour */
function isSeen({ creation, consumption, neutral }) {
  return creation + consumption + neutral > 0;
}

/** @param {Hours} hours */
function firstSeen(hours) {
  return Math.max(0, hours.findIndex(isSeen));
}

/** @param {Hours} hours @param {number | undefined} at */
function columns(hours, at) {
  // An interval belongs to the hour in which it began, so an hour can hold a little more than 60 minutes.
  const max = Math.max(
    60,
    ...hours.map(({ creation, consumption, neutral }) => creation + consumption + neutral),
  );
  const base = TOP + HEIGHT;
  const scale = [0, 30, 60].map((value) => ({ value, y: base - (value / max) * HEIGHT }));
  const step = 100 / hours.length;
  return h(
    'div',
    { 'aria-hidden': 'true' },
    h(
      'svg',
      { height: base + NAMES },
      scale.map(({ value, y }) => h('text', { x: 0, y: (y + 5).toFixed(1) }, SCALE[value])),
    ),
    h(
      'svg',
      { height: base + NAMES },
      scale.map(({ y }) => h('rect', { class: 'grid-line', y: y.toFixed(1), width: '100%', height: 1 })),
      hours.map((hour, i) => {
        const x = i * step;
        let y = base;
        const parts = KINDS.map((kind) => {
          const height = (hour[kind] / max) * HEIGHT;
          y -= height;
          return h('rect', {
            x: `${(x + step * 0.12).toFixed(2)}%`,
            y: y.toFixed(2),
            width: `${(step * 0.76).toFixed(2)}%`,
            height: height.toFixed(2),
            fill: fill(kind),
          });
        });
        return h(
          'g',
          { 'data-key': hour.start, 'data-hour': i, class: i === at ? 'at' : '' },
          h('rect', {
            class: 'back',
            x: `${x.toFixed(2)}%`,
            y: 0,
            width: `${step.toFixed(2)}%`,
            height: base + NAMES,
          }),
          parts,
          h(
            'text',
            {
              class: `name n${i % 4}`,
              x: `${(x + step / 2).toFixed(2)}%`,
              y: base + 18,
              'text-anchor': 'middle',
            },
            hour.start.slice(11, 13),
          ),
        );
      }),
    ),
  );
}

/** @param {Element} place @param {Hours} hours */
function showTable(place, hours) {
  show(
    place,
    head(['hour', ...KINDS]),
    h(
      'tbody',
      {},
      hours.map((hour, i) =>
        h(
          'tr',
          { 'data-key': hour.start },
          h('th', { scope: 'row' }, hourName(hours, i)),
          KINDS.map((kind) => h('td', {}, hour[kind] === 0 ? '–' : minutes(hour[kind]))),
        ),
      ),
    ),
  );
}
