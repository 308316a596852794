// The cards of the board, and their filters.

import { h } from './dom.js';
import { ago, moment } from './format.js';

/** @typedef {import('../../src/lib/work/board').Item} Item */

/** The filters, each with the values of an item. @type {Record<string, (item: Item) => (string | null)[]>} */
export const FACETS = {
  type: ({ type }) => [type],
  priority: ({ priority }) => [priority],
  property: ({ property }) => [property],
  agent: ({ agents }) => agents,
};

/** Returns a title without its prefix and marker. @param {string} title */
export function plainTitle(title) {
  return (
    title
      .replace(/^\[(?:Core|Native|Reminder|Research|Queue|Sweep|Project-Check|Goal)\] /, '')
      .replace(/ \[(?:slug|goal|project):[^[\]]+\]$/, '') || title
  );
}

/** Returns the items with a chosen value of each facet and every search word in the title. @param {readonly Item[]} items @param {URLSearchParams} chosen */
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
      ) && words.every((word) => item.title.toLowerCase().includes(word)),
  );
}

/** Returns the values of a facet in these items, sorted. @param {readonly Item[]} items @param {string} facet */
export function valuesOf(items, facet) {
  const values = new Set(items.flatMap((item) => FACETS[facet]?.(item) ?? []));
  return [...values].filter((value) => value !== null).sort();
}

/** Returns a card of three lines that opens its issue in a new tab. @param {Item} item @param {number} now */
export function card(item, now) {
  const { number, title, url, source, type, priority, property, agents, due, stale, updatedAt, closedAt } =
    item;
  const dueAt = due === null || closedAt !== null ? NaN : Date.parse(due);
  const at = Date.parse(closedAt ?? updatedAt);
  // A reminder's source and type are the same word; show it once.
  const badges = new Set([source, type, priority, property].filter((badge) => badge !== null));
  const isPage = /^https?:\/\//.test(url);
  return h(
    'li',
    { class: 'card', 'data-key': String(number) },
    h('a', isPage ? { href: url, target: '_blank', rel: 'noopener noreferrer' } : {}, `${plainTitle(title)}`),
    h(
      'p',
      { class: 'badges' },
      [...badges].map((badge) => h('span', { class: 'badge' }, badge)),
      agents.map((agent) => h('span', { class: 'badge agent' }, `@ ${agent}`)),
      !Number.isNaN(dueAt) &&
        h('span', { class: dueAt < now ? 'badge stale' : 'badge' }, `due ${moment(dueAt, now)}`),
      stale && h('span', { class: 'badge stale' }, 'stale'),
    ),
    h(
      'p',
      { class: 'muted small' },
      `#${number} · `,
      h(
        'time',
        { datetime: closedAt ?? updatedAt, title: moment(at, now) },
        `${closedAt === null ? '' : 'closed '}${ago(at, now)}`,
      ),
    ),
  );
}
