// The script of all pages, which the build makes one file: it loads the script of the page that is open.

const PAGES = {
  index: () => import('./index.js'),
  sense: () => import('./sense.js'),
  sessions: () => import('./sessions.js'),
  status: () => import('./status.js'),
  work: () => import('./work.js'),
};

void PAGES[/** @type {keyof typeof PAGES} */ (document.body.dataset.page)]();
