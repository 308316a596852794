// Notes about failed requests: the panels keep the last good data, and a note shows the age of the data.

import { isDemo, isNameless, refused } from './daemon.js';
import { byId, command, h, show } from './dom.js';
import { moment } from './format.js';

/** @typedef {import('./live.js').Feed} Feed */

/**
 * A part of a page.
 * @typedef {object} Panel
 * @property {string} name
 * @property {Feed[]} feeds the feeds whose problems the panel reports
 * @property {unknown[]} from the values shown; the panel is redrawn when one changes
 * @property {() => void} draw
 */

/** The values last drawn in each panel, and whether drawing failed. @type {Map<string, { from: unknown[], failed: boolean }>} */
const drawn = new Map();

/** Draws the panels and reports panels that fail or are out of date. @param {Panel[]} panels */
export function drawPanels(panels) {
  /** @type {Map<string, string[]>} panels by problem */
  const problems = new Map();
  for (const { name, feeds, from, draw } of panels) {
    const failed = feeds.find(({ problem }) => problem?.reached && !problem.signedOut);
    let text =
      failed?.problem && `${since(failed)}${failed.problem.message} ${failed.problem.hint ?? ''}`.trim();
    if (!isDrawn(name, from, draw))
      text ??= 'Unexpected response from the daemon; it may have been upgraded. Reload the page.';
    if (text) problems.set(text, [...(problems.get(text) ?? []), name]);
  }
  const feeds = panels.flatMap((panel) => panel.feeds);
  const lost = feeds.find(({ problem }) => problem?.reached === false);
  const signedOut = feeds.find(({ problem }) => problem?.signedOut);
  const facts = byId('facts');
  if ((lost || signedOut || problems.size > 0) && facts.textContent === 'Loading …') show(facts, 'No data.');
  show(
    byId('notes'),
    refused && h('p.attention', refused),
    signedOut &&
      !refused &&
      h('p.attention', `${since(signedOut)}Run `, command('steward open'), ' to sign in.'),
    lost?.problem &&
      h(
        'p.attention',
        `${since(lost)}${lost.problem.message} `,
        lost.problem.isLate
          ? 'This page asks again automatically.'
          : [
              'Start it with ',
              command(isDemo ? 'steward demo' : 'steward up'),
              '; this page reconnects automatically.',
            ],
      ),
    isNameless &&
      h('p.muted', 'Titles and branches are not shown. Run ', command('steward open'), ' to see them.'),
    [...problems].map(([text, names]) => h('p.attention', `${names.join(', ')}: ${text}`)),
  );
}

/** @param {string} name @param {unknown[]} from @param {() => void} draw */
function isDrawn(name, from, draw) {
  const last = drawn.get(name);
  if (last !== undefined && from.every((value, i) => value === last.from[i])) return !last.failed;
  let failed = false;
  try {
    draw();
  } catch (error) {
    console.error(error);
    failed = true;
  }
  drawn.set(name, { from, failed });
  return !failed;
}

/** @param {Feed} feed */
function since({ goodAt }) {
  return goodAt === undefined ? '' : `Last updated ${moment(goodAt, Date.now())}. `;
}
