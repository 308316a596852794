// The order of the kinds, and the patterns that distinguish them without colour.

import { h } from './dom.js';

/** @typedef {import('../../src/lib/sense/record').DailyRecord} DailyRecord */
/** @typedef {'creation' | 'consumption' | 'neutral'} Kind */

export const KINDS = /** @type {const} */ (['creation', 'consumption', 'neutral']);

/** Returns the fill pattern, which the page defines. @param {Kind} kind */
export function fill(kind) {
  return `url(#fill-${kind})`;
}

/** @param {DailyRecord} record */
export function byKind({ creationMinutes, consumptionMinutes, neutralMinutes }) {
  return { creation: creationMinutes, consumption: consumptionMinutes, neutral: neutralMinutes };
}

/** Returns a table head. @param {readonly string[]} names */
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
