// What a page says when an answer does not come: the picture stays, and a line says since when it stands still.

import { command, h, show } from './dom.js';
import { moment } from './format.js';

/** @typedef {import('./live.js').Feed} Feed */

/** One part of a page: its name, what it is drawn from, and how. @typedef {{ name: string, feeds: Feed[], draw: () => void }} Panel */

/** Draws each panel; those that cannot be drawn, or stand still, are told of. @param {Element} place @param {Panel[]} panels */
export function drawPanels(place, panels) {
  /** @type {Map<string, string[]>} what is said, and of which panels */
  const told = new Map();
  for (const { name, feeds, draw } of panels) {
    const failed = feeds.find(({ problem }) => problem?.reached);
    let text =
      failed?.problem && `${since(failed)}${failed.problem.message} ${failed.problem.hint ?? ''}`.trim();
    try {
      draw();
    } catch (error) {
      console.error(error);
      text ??=
        'The daemon answered in a way that this page does not know. Reload the page: one of the two is of another version.';
    }
    if (text) told.set(text, [...(told.get(text) ?? []), name]);
  }
  const lost = panels.flatMap(({ feeds }) => feeds).find(({ problem }) => problem?.reached === false);
  show(
    place,
    lost?.problem &&
      h(
        'p',
        { class: 'attention' },
        `${since(lost)}${lost.problem.message} Start it with `,
        command('steward up'),
        '; this page asks again by itself.',
      ),
    [...told].map(([text, names]) => h('p', { class: 'attention' }, `${names.join(', ')}: ${text}`)),
  );
}

/** @param {Feed} feed */
function since({ goodAt }) {
  return goodAt === undefined ? '' : `Not refreshed since ${moment(goodAt, Date.now())}. `;
}
