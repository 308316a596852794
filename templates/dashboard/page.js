// The script of all pages, which the build makes one file: it loads the script of the page that is open.

import { askEarly } from './daemon.js';
import { DAY_URLS } from './day-urls.js';

// The answers of the first page are under way while its script starts.
if (location.pathname === '/') askEarly([...Object.values(DAY_URLS), '/api/inbox']);

const PAGES = {
  index: () => import('./index.js'),
  sense: () => import('./sense.js'),
  sessions: () => import('./sessions.js'),
  status: () => import('./status.js'),
  work: () => import('./work.js'),
};

void PAGES[/** @type {keyof typeof PAGES} */ (document.body.dataset.page)]();
