// The header on all pages: links, the number of rows in the inbox, and the state of the connection.

import { isDemo } from './daemon.js';
import { byId, h, show } from './dom.js';
import { clock } from './format.js';

/** Each page, with the key to press after `g`. */
export const PAGES = /** @type {const} */ ([
  ['/', 'Today', 't'],
  ['/sense', 'Days', 'd'],
  ['/sessions', 'Sessions', 's'],
  ['/work', 'Work', 'w'],
  ['/status', 'Status', 'h'],
]);

/** The page title without the waiting count. */
let title = document.title;

export function showHeader() {
  const main = document.querySelector('main');
  if (main === null) return;
  main.id = 'main';
  main.tabIndex = -1;
  const skip = h('a.skip', { href: '#main' }, 'Skip to content');
  skip.addEventListener('click', (event) => {
    event.preventDefault();
    main.focus();
  });
  main.after(h('div', { id: 'notes', class: 'notes', role: 'status' }));
  main.before(
    skip,
    h(
      'header.top',
      h('a.brand', { href: '/' }, 'steward'),
      isDemo && h('span.demo', 'demo'),
      h(
        'nav',
        { 'aria-label': 'Pages' },
        PAGES.map(([path, name]) =>
          h(
            'a',
            { href: path, 'aria-current': path === location.pathname && 'page' },
            name,
            path === '/' && h('span', { id: 'waits', class: 'waits' }),
          ),
        ),
      ),
      h('span', { id: 'link', class: 'link muted', role: 'status' }),
      h('button', { id: 'keys', class: 'copy', 'aria-label': 'Keyboard shortcuts' }, '?'),
    ),
  );
}

/** @param {number} count @param {string | null | void} name the page's new name */
export function showWaiting(count, name) {
  if (name) title = `${name} · steward`;
  const shown = isDemo ? `${title} (demo)` : title;
  document.title = count === 0 ? shown : `(${count}) ${shown}`;
  show(
    byId('waits'),
    count > 0 && [
      h('span', { 'aria-hidden': 'true' }, ` ◇ ${count}`),
      h('span.unseen', `, ${count} waiting for you`),
    ],
  );
  const icon = document.querySelector('link[rel=icon]');
  if (icon instanceof HTMLLinkElement) icon.href = iconOf(count > 0);
}

/** Returns the page's icon: a ring, filled while something is waiting. @param {boolean} isFilled */
function iconOf(isFilled) {
  const [stroke, fill] = isFilled ? ['%239d1aa5', '%239d1aa5'] : ['%230d7d73', 'none'];
  return `data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6" fill="${fill}" stroke="${stroke}" stroke-width="3"/></svg>`;
}

/** @param {import('./live.js').Link} link */
export function showLink({ isLive, lostAt, isUpgraded }) {
  const since = lostAt ? ` since ${clock(lostAt)}` : '';
  const place = byId('link');
  place.className = lostAt === undefined && !isUpgraded ? 'link muted' : 'link attention';
  if (lostAt !== undefined) show(place, `▲ Not connected${since}. Reconnecting.`);
  else if (isUpgraded) show(place, 'steward was upgraded. ', h('a', { href: '' }, 'Reload'));
  else show(place, isLive ? '● live' : '○ every 30 s');
}
