// The timeline of a day: a row for each kind of application, one for commits and closed issues, and one for each
// session. All boxes of a kind are one SVG path, so pointer events don't identify an item.

import { around, h, plain, show } from './dom.js';
import { plural } from './format.js';
import { head } from './kinds.js';
import { groupsOf, itemText, rangeOf, STATES, tableRows } from './timeline-items.js';

/** @typedef {import('./timeline-items.js').DayDocument} DayDocument */
/** @typedef {import('./timeline-items.js').Group} Group */
/** @typedef {import('./timeline-items.js').Row} Row */

const HEIGHT = 24;
/** @type {Readonly<Record<string, [top: number, height: number]>>} */
const BOXES = { w: [9, 6], away: [11, 2], overlap: [8, 8], tick: [4, 16] };
const HOUR = 3600;
/** A row with more boxes than this is drawn by how much of each of `DENSE` intervals they fill, in four steps. */
const DENSE = 400;

/** What to draw. @typedef {{ until: number | undefined, rest: string, clock: (at: number) => string, least?: number }} Words */

/**
 * @param {HTMLElement} place @param {HTMLElement} readout @param {HTMLElement} table
 * @param {(item?: import('./timeline-items.js').Item) => void} [pick] called with the visit to filter by, or without
 */
export function timeline(place, readout, table, pick = () => {}) {
  /** @type {Group[]} */
  let groups = [];
  let range = { from: 0, to: 8 * HOUR };
  /** The start of the hour that fills the timeline. @type {number | undefined} */
  let zoom;
  /** @type {{ day: DayDocument, words: Words } | undefined} */
  let last;
  let rest = '';
  /** @type {(at: number) => string} */
  let clock = String;
  /** The index of the selected item, by group. @type {Map<string, number>} */
  const chosen = new Map();
  /** @type {string | undefined} the group whose item is in the readout */
  let reading;

  /** @param {string | undefined} id */
  function read(id) {
    reading = id;
    for (const cursor of place.querySelectorAll('.cursor')) cursor.setAttribute('width', '0');
    for (const { id: own, items } of groups) {
      const slider = place.querySelector(`[data-key="${own}"]`);
      const at = Math.min(chosen.get(own) ?? 0, items.length - 1);
      const item = items[at];
      if (slider === null || item === undefined) continue;
      slider.setAttribute('aria-valuemax', String(items.length - 1));
      slider.setAttribute('aria-valuenow', String(at));
      const text = plain(itemText(item, clock));
      slider.setAttribute('aria-valuetext', text);
      if (own !== id) continue;
      readout.textContent = readout.title = text;
      const rows = [...slider.querySelectorAll('[data-row]')];
      const cursor = rows.find((row) => row.getAttribute('data-row') === item.row)?.querySelector('.cursor');
      cursor?.setAttribute('x', String(item.at));
      cursor?.setAttribute('width', String(Math.max(item.end - item.at, (range.to - range.from) / 400)));
    }
    if (id === undefined) readout.textContent = readout.title = rest;
  }

  /** @param {Event} event */
  function groupOf(event) {
    const id = around(event, '[role=slider]')?.dataset.key;
    return groups.find((group) => group.id === id);
  }

  /** @param {PointerEvent} event */
  function point(event) {
    const group = groupOf(event);
    const row = around(event, '[data-row]');
    const box = row?.querySelector('svg')?.getBoundingClientRect();
    if (group === undefined || row === null || box === undefined || box.width === 0) return;
    const length = range.to - range.from;
    const at = range.from + ((event.clientX - box.left) / box.width) * length;
    const found = nearest(group, row.getAttribute('data-row') ?? '', at, length / 60);
    if (found === undefined) return;
    chosen.set(group.id, found);
    read(group.id);
  }

  place.addEventListener('pointermove', point);
  place.addEventListener('pointerdown', point);
  place.addEventListener('click', (event) => {
    const hour = around(event, '[data-hour]')?.dataset.hour;
    if (hour !== undefined) zoomTo(zoom === undefined ? Number(hour) : undefined);
    else if (around(event, '[data-key=zoom]')) zoomTo(undefined);
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || zoom === undefined || around(event, 'form, input, dialog')) return;
    // In the timeline, the slider's own keys apply.
    if (groupOf(event) === undefined) zoomTo(undefined);
  });
  place.addEventListener('dblclick', (event) => {
    const group = groupOf(event);
    const item = group?.items[chosen.get(group.id) ?? 0];
    if (item?.app !== undefined) pick(item);
  });
  place.addEventListener('pointerleave', ({ pointerType }) => {
    // Lifting a finger also fires this event. Keep showing the touched item.
    if (pointerType === 'mouse' && !place.contains(document.activeElement)) read(undefined);
  });
  place.addEventListener('focusin', (event) => read(groupOf(event)?.id));
  place.addEventListener('focusout', () => read(undefined));
  place.addEventListener('keydown', (event) => {
    const group = groupOf(event);
    if (group === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const from = Math.min(chosen.get(group.id) ?? 0, group.items.length - 1);
    if (event.key === 'Escape' && zoom !== undefined) return zoomTo(undefined);
    if (event.key === 'Escape') return (pick(), read(undefined));
    if (event.key === 'z') return zoomTo(hourOf(group.items[from]?.at ?? 0));
    if (event.key === 'Enter')
      return pick(group.items[from]?.app === undefined ? undefined : group.items[from]);
    const to = target(event, group, from);
    if (to === undefined) return;
    event.preventDefault();
    chosen.set(group.id, Math.max(0, Math.min(group.items.length - 1, to)));
    read(group.id);
  });
  /** Returns the start of the hour of the day with a time. @param {number} at */
  function hourOf(at) {
    return (last ? hoursOf(last.day) : []).findLast((hour) => hour <= at) ?? 0;
  }

  /** Shows one hour, or all. @param {number | undefined} hour */
  function zoomTo(hour) {
    zoom = hour;
    if (last) draw(last.day, last.words);
  }

  const details = table.closest('details');
  // The table can have thousands of rows, so create it only when it is opened.
  details?.addEventListener('toggle', showTable);

  function showTable() {
    if (!details?.open) return;
    const rows = tableRows(groups, clock).map((cells) =>
      h(
        'tr',
        cells.map((cell, i) => h(i === 0 ? 'th' : 'td', i === 0 ? { scope: 'row' } : {}, cell)),
      ),
    );
    show(table, head(['time', 'what', 'length']), h('tbody', rows));
  }

  /** @param {DayDocument} day @param {Words} words */
  function draw(day, words) {
    last = { day, words };
    groups = groupsOf(day);
    const whole = rangeOf(groups, day, words.until, words.least);
    range = zoom === undefined ? whole : { from: zoom, to: zoom + HOUR };
    ({ rest, clock } = words);
    const lanes = groups.find(({ id }) => id === 'sessions')?.rows.length ?? 0;
    const more = day.sessions.length - lanes;
    show(
      place,
      groups.length > 0 && axis(day, range, words.clock),
      groups.map((group) => groupNode(group, range, words.until)),
      groups.length > 0 &&
        (zoom !== undefined || words.least === undefined) &&
        hint(zoom === undefined ? undefined : clock(zoom)),
      more > 0 &&
        h(
          'p.muted.small',
          { 'data-key': 'rest' },
          h('a', { href: '/sessions' }, plural(more, 'more session')),
        ),
    );
    for (const label of place.querySelectorAll('[data-at]'))
      if (label instanceof HTMLElement) label.style.left = `${label.dataset.at}%`;
    read(reading);
    showTable();
  }

  return { draw };
}

/** Says how to zoom, or back. @param {string | undefined} zoomed the start of the hour that is shown */
function hint(zoomed) {
  const zoom = 'To zoom, click an hour, or press z in a row.';
  const filter = 'To show one application only, double-click it, or press Enter.';
  return h(
    'p.muted.small',
    { 'data-key': 'hint' },
    zoomed === undefined
      ? `${zoom} ${filter}`
      : [
          `The hour from ${zoomed}. `,
          h('button.more', { 'data-key': 'zoom' }, 'Show the whole day'),
          ' or press Escape.',
        ],
  );
}

/** Returns when each hour of a day starts, in seconds. @param {DayDocument} day */
function hoursOf({ record, startMs }) {
  return record.hours.map(({ start }) => (Date.parse(start) - startMs) / 1000);
}

/** Returns the index of a row's item nearest to a time; undefined if no item is within reach. @param {Group} group @param {string} row @param {number} at @param {number} reach */
function nearest({ items }, row, at, reach) {
  let best = reach;
  /** @type {number | undefined} */
  let found;
  items.forEach((item, i) => {
    const distance = item.row === row ? Math.max(item.at - at, at - item.end, 0) : Infinity;
    if (distance < best) {
      best = distance;
      found = i;
    }
  });
  return found;
}

/** Returns the index of the item that a key selects. @param {KeyboardEvent} event @param {Group} group @param {number} from */
function target({ key, shiftKey }, { items }, from) {
  const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[key];
  if (step !== undefined && shiftKey) {
    const start = (items[from]?.at ?? 0) + step * HOUR;
    const index =
      step > 0 ? items.findIndex(({ at }) => at >= start) : items.findLastIndex(({ at }) => at <= start);
    return index === -1 ? (step > 0 ? items.length - 1 : 0) : index;
  }
  if (step !== undefined) return from + step;
  return { Home: 0, End: items.length - 1, PageDown: from + 10, PageUp: from - 10 }[key];
}

/** @param {Group} group @param {{ from: number, to: number }} range @param {number | undefined} now */
function groupNode({ id, label, rows, machine }, range, now) {
  return h(
    'div',
    {
      class: 'group',
      'data-key': id,
      role: 'slider',
      tabindex: 0,
      'aria-label': `${label}; use the arrow keys to move`,
      'aria-valuemin': 0,
      'aria-valuemax': 0,
      'aria-valuenow': 0,
    },
    machine && h('p.small', { 'data-key': 'machine' }, machine),
    rows.map((row) => rowNode(row, range, now)),
    id.endsWith('sessions') && legend(rows, range),
  );
}

/** @param {Row} row @param {{ from: number, to: number }} range @param {number | undefined} now */
function rowNode({ id, label, boxes: all }, { from, to }, now) {
  const boxes = all.filter(([at, end]) => end >= from && at <= to);
  const states = [...new Set(boxes.map(([, , state]) => state))];
  return h(
    'div.row',
    { 'data-key': id, 'data-row': id },
    h('span.label', { title: label }, label),
    h(
      'svg',
      {
        height: HEIGHT,
        viewBox: `${from} 0 ${to - from} ${HEIGHT}`,
        preserveAspectRatio: 'none',
        'aria-hidden': 'true',
      },
      // Drawing stretches the stripes with the time that a row shows.
      h('defs', stripes(id, (to - from) / 300)),
      boxes.length > DENSE && states.length === 1
        ? density(boxes, from, to)
        : states.map((state) => path(id, state, boxes)),
      now !== undefined && h('path.now', { d: `M${now} 0v${HEIGHT}` }),
      h('rect.cursor', { y: 1, height: HEIGHT - 2, width: 0 }),
    ),
  );
}

/** @param {Row['boxes']} boxes @param {number} from @param {number} to */
function density(boxes, from, to) {
  const width = (to - from) / DENSE;
  const filled = new Array(DENSE).fill(0);
  for (const [at, end] of boxes)
    for (let i = Math.max(0, Math.floor((at - from) / width)); i < DENSE && from + i * width < end; i += 1)
      filled[i] += Math.min(end, from + (i + 1) * width) - Math.max(at, from + i * width);
  return [1, 2, 3, 4].map((step) => {
    const parts = filled.flatMap((seconds, i) => {
      const at = from + i * width;
      return Math.ceil((seconds / width) * 4) === step ? outline([[at, at + width, '']]) : [];
    });
    return h('path', { class: `box dense ${boxes[0]?.[2]}`, 'fill-opacity': step / 4, d: parts.join('') });
  });
}

/** Explains each state of the sessions below their rows, left of the times. @param {Row[]} rows @param {{ from: number, to: number }} range */
function legend(rows, { from, to }) {
  const boxes = rows.flatMap((row) => row.boxes).filter(([at, end]) => end >= from && at <= to);
  const found = new Set(boxes.map(([, , state]) => state));
  const states = Object.keys(STATES).filter((state) => found.has(state));
  const size = { width: 16, height: HEIGHT, 'aria-hidden': 'true' };
  return (
    states.length > 0 &&
    h(
      'p.toggles.muted.small',
      { 'data-key': 'legend' },
      'Legend:',
      states.flatMap((state) => [
        h('svg', size, h('defs', stripes(state, 4)), path(state, state, [[1, 15, state]])),
        h('span', STATES[state]),
      ]),
    )
  );
}

/** @param {string} id @param {string} state @param {Row['boxes']} boxes */
function path(id, state, boxes) {
  const d = outline(boxes.filter((box) => box[2] === state));
  return h('path', { class: `box ${state}`, d, fill: state === 'pastY' && `url(#stripes-${id})` });
}

/** @param {string} id @param {number} width */
function stripes(id, width) {
  const size = { width, height: HEIGHT, patternUnits: 'userSpaceOnUse' };
  return h(
    'pattern',
    { id: `stripes-${id}`, ...size },
    h('rect', { class: 'neutral', width: width / 2, height: HEIGHT }),
  );
}

/** @param {Row['boxes']} boxes */
function outline(boxes) {
  return boxes
    .map(([at, end, state]) => {
      const [top, height] = BOXES[state] ?? [3, 18];
      return `M${at} ${top}h${end - at}v${height}H${at}z`;
    })
    .join('');
}

/** @param {DayDocument} day @param {{ from: number, to: number }} range @param {(at: number) => string} clock */
function axis(day, { from, to }, clock) {
  const isHour = to - from <= HOUR;
  const times = isHour ? [0, 1, 2, 3, 4, 5, 6].map((i) => from + i * 600) : hoursOf(day);
  const labels = times.flatMap((at, i) => {
    if (at < from || at > to) return [];
    const left = (((at - from) / (to - from)) * 100).toFixed(2);
    const text = isHour ? clock(at) : clock(at).slice(0, 2);
    const kind = { class: `n${isHour ? 0 : i % 4}`, 'data-at': left, 'data-key': at };
    return [h('span', { ...kind, 'data-hour': at, title: isHour ? null : 'Zoom into this hour' }, text)];
  });
  const long = to - from > 14 * HOUR;
  return h('div', { class: `axis${long ? ' long' : ''}`, 'data-key': 'axis', 'aria-hidden': 'true' }, labels);
}
