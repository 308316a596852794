// The rows of the issue list, and the filters.

import { external, h, isVisible } from './dom.js';
import { ago, moment } from './format.js';

/** @typedef {import('../../src/lib/work/board').Item} Item */

/** @type {Record<string, (item: Item) => (string | null)[]>} */
export const FACETS = {
  priority: ({ priority }) => [priority],
  type: ({ type }) => [type],
  property: ({ property }) => [property],
  agent: ({ agents }) => agents,
};

/** Returns a title without its prefix and marker; empty if nothing of it can be seen. @param {string} title */
export function plainTitle(title) {
  const text = title
    .replace(/^\[(?:Core|Native|Reminder|Research|Queue|Sweep|Project-Check|Goal)\] /, '')
    .replace(/ \[(?:slug|goal|project):[^[\]]+\]$/, '');
  return [text, title].find(isVisible)?.trim() ?? '';
}

/** Returns the items that match every search word and, for each facet, one of the chosen values. @param {readonly Item[]} items @param {URLSearchParams} chosen */
export function filtered(items, chosen) {
  const words = (chosen.get('q') ?? '')
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const facets = Object.entries(FACETS).flatMap(([name, values]) => {
    const wanted = chosen.getAll(name);
    return wanted.length === 0 ? [] : [{ wanted, values }];
  });
  return items.filter(
    (item) =>
      facets.every(({ wanted, values }) =>
        values(item).some((value) => value !== null && wanted.includes(value)),
      ) && words.every((word) => word === `#${item.number}` || item.title.toLowerCase().includes(word)),
  );
}

/** Returns a facet's values in these items, sorted. @param {readonly Item[]} items @param {string} facet */
export function valuesOf(items, facet) {
  const values = new Set(items.flatMap((item) => FACETS[facet]?.(item) ?? []));
  return [...values].filter((value) => value !== null).sort();
}

/** Returns an open item's due time in ms; otherwise NaN. @param {Item} item */
export function dueOf({ due, state }) {
  return state === 'open' ? Date.parse(due ?? '') : NaN;
}

/** Returns the items that are due, earliest deadline first. @param {Item[]} items @param {number} now */
export function late(items, now) {
  return items.filter((item) => dueOf(item) <= now).sort((a, b) => dueOf(a) - dueOf(b));
}

/** Returns an item's badges. Shows `reminder` once, although it is both source and type. @param {Item} item */
export function badgesOf({ number, source, type, property, agents, stale }) {
  const words = [
    `#${number}`,
    source === 'manual' ? null : source,
    type,
    property,
    ...agents.map((agent) => `@${agent}`),
    stale && 'stale',
  ];
  return [...new Set(words.filter((word) => word))].join(' · ');
}

/**
 * Returns a single-line row. Its title opens the issue in a new tab.
 * @param {Item} item @param {number} now @param {Element | undefined} details shown under the open row
 * @param {boolean} isCard whether the row is a card that can be moved @param {string} [refusal] why its last move was refused
 */
export function row(item, now, details, isCard, refusal) {
  const { number, title, url, priority, updatedAt, closedAt } = item;
  const at = Date.parse(closedAt ?? updatedAt);
  const due = dueOf(item);
  const isOpen = details !== undefined;
  return h(
    'li',
    { class: 'item', 'data-key': number, draggable: isCard && 'true' },
    h(
      'button',
      {
        ...{ class: 'unfold', tabindex: -1, 'data-open': number },
        ...{ 'aria-expanded': String(isOpen), 'aria-label': `Details of #${number}` },
      },
      isOpen ? '▾' : '▸',
    ),
    h('span.small', priority),
    h('a', { ...external(url), tabindex: -1, 'data-stop': number }, plainTitle(title) || `#${number}`),
    h('span.badges.small.muted', badgesOf(item)),
    due
      ? h(
          'time',
          { class: due <= now ? 'small attention' : 'small', datetime: item.due },
          `due ${moment(due, now)}`,
        )
      : h('time', { class: 'muted small', datetime: closedAt ?? updatedAt }, ago(at, now)),
    // The open row's form says it.
    refusal && !isOpen && h('p.attention.small.refusal', { 'data-key': 'refusal' }, refusal),
    details,
  );
}
