// The number of sessions that wait for the person, in the navigation and in the title of the tab.

import { byId, h, show } from './dom.js';

/** The title of the page, to which the number is added. */
let title = document.title;

/** @param {number} count @param {string} [name] a new title of the page */
export function showWaiting(count, name = title) {
  title = name;
  document.title = count === 0 ? title : `(${count}) ${title}`;
  show(
    byId('waits'),
    count > 0 && [
      h('span', { 'aria-hidden': 'true' }, `◇ ${count}`),
      h('span', { class: 'unseen' }, `, ${count} waiting for you`),
    ],
  );
}

/** Returns the number of waiting sessions in an answer of `/api/sessions`. @param {unknown} report */
export function waitingIn(report) {
  return (
    /** @type {import('../../src/lib/sessions/view').SessionsReport | undefined} */ (report)?.waiting ?? 0
  );
}
