// Creation, consumption, neutral: their order, and the fills that tell them apart without colour, too.

import { h } from './dom.js';

/** @typedef {import('../../src/lib/sense/record').DailyRecord} DailyRecord */
/** @typedef {'creation' | 'consumption' | 'neutral'} Kind */

export const KINDS = /** @type {const} */ (['creation', 'consumption', 'neutral']);

/** A pattern of the page. @param {Kind} kind */
export function fill(kind) {
  return `url(#fill-${kind})`;
}

/** @param {DailyRecord} record */
export function byKind({ creationMinutes, consumptionMinutes, neutralMinutes }) {
  return { creation: creationMinutes, consumption: consumptionMinutes, neutral: neutralMinutes };
}

/** The head of a table. @param {readonly string[]} names */
export function head(names) {
  return h(
    'thead',
    {},
    h(
      'tr',
      {},
      names.map((name) => h('th', { scope: 'col' }, name)),
    ),
  );
}
