// The order of the kinds, and the patterns that distinguish them without colour.

import { h } from './dom.js';

/** @typedef {import('../../src/lib/sense/record').DailyRecord} DailyRecord */
/** @typedef {'creation' | 'consumption' | 'neutral'} Kind */

export const KINDS = /** @type {const} */ (['creation', 'consumption', 'neutral']);

/** Returns the fill of a kind, and adds the fills to the page first. @param {Kind} kind */
export function fill(kind) {
  if (document.querySelector('pattern') === null) document.body.prepend(fills());
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

const SIZE = { width: 6, height: 6 };

/** Returns the patterns by which the kinds differ without colour. */
function fills() {
  const of = (/** @type {Kind} */ kind, /** @type {Node[]} */ ...parts) =>
    h('pattern', { id: `fill-${kind}`, ...SIZE, patternUnits: 'userSpaceOnUse' }, parts);
  const ground = () => h('rect', { class: 'page', ...SIZE });
  return h(
    'svg',
    { class: 'unseen', width: 0, height: 0, 'aria-hidden': 'true', focusable: 'false' },
    of('creation', h('rect', { class: 'creation', ...SIZE })),
    of('consumption', ground(), h('path', { class: 'consumption', d: 'M-3 3 3-3M-3 9 9-3M3 9 9 3' })),
    of(
      'neutral',
      ground(),
      h('rect', { class: 'neutral pale', ...SIZE }),
      h('rect', { class: 'neutral', width: 2, height: 2 }),
    ),
  );
}
