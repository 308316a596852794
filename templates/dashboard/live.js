// Keeps a page's documents up to date. The stream names the documents that changed; without a stream, a visible page
// polls. If a request fails, the page keeps the last response.

import { ask, openStream, signIn } from './daemon.js';
import { watchCopies, watchForms } from './dom.js';
import { ownZone, setZone } from './format.js';
import { rove, watchKeys } from './keys.js';
import { showHeader, showLink, showWaiting } from './nav.js';

const EVERY_MS = 30_000;
const MINUTE_MS = 60_000;
/** Changes within this time share one request. */
const SOON_MS = 250;
/** How long to wait for all responses before the first draw, so that late responses don't shift the layout. */
const TOGETHER_MS = 1500;
/** How long to wait for responses after the first draw. */
const LATE_MS = 100;

/** @typedef {import('./daemon.js').Problem} Problem */
/** @typedef {import('../../src/lib/inbox/row').Inbox} Inbox */
/**
 * The state of one URL.
 * @typedef {object} Feed
 * @property {unknown} data the last good response, if any
 * @property {number | undefined} goodAt when the daemon last confirmed `data`, ms
 * @property {Problem | undefined} problem a later problem, if any
 */
/**
 * The connection to the daemon.
 * @typedef {object} Link
 * @property {boolean} isLive whether changes arrive over the stream
 * @property {number | undefined} lostAt when the daemon last responded; undefined while it is responding
 * @property {number} now the time that the page represents: `lostAt` or the current time
 * @property {boolean} isUpgraded
 */

/**
 * Every page follows the inbox, whose number of rows is in its title and header.
 * @template {string} K
 * @param {Record<K, string>} own
 * @param {(feeds: Record<K | 'inbox', Feed>, link: Link) => string | null | void} draw called after responses and every minute, at most once per frame; may return a new title
 * @param {NoInfer<K>[]} [late] feeds that the first draw does not wait for
 */
export function follow(own, draw, late = []) {
  /** @typedef {K | 'inbox'} Name */
  const urls = /** @type {Record<Name, string>} */ ({ ...own, inbox: '/api/inbox' });
  const names = /** @type {Name[]} */ (Object.keys(urls));
  const feeds = /** @type {Record<Name, Feed>} */ (
    Object.fromEntries(
      names.map((name) => [name, { data: undefined, goodAt: undefined, problem: undefined }]),
    )
  );
  /** @type {Partial<Record<Name, string>>} */
  const etags = {};
  /** The last ETag of each topic of the stream. @type {Map<string, string | undefined>} */
  const topics = new Map();
  /** @type {Set<Name>} */
  const busy = new Set();
  /** Feeds to request again soon. @type {Set<Name>} */
  const due = new Set();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let soon;
  /** @type {Name[]} */
  const waiting = [...late];
  let failures = 0;
  let isDrawing = false;
  let isFirst = true;
  let isLive = false;
  let wasLive = false;
  /** @type {string | undefined} */
  let version;
  let isUpgraded = false;

  function drawSoon() {
    const isAwaited = names.some(
      (name) => !waiting.includes(name) && feeds[name].goodAt === undefined && !feeds[name].problem,
    );
    if (isDrawing || (isFirst && isAwaited)) return;
    isDrawing = true;
    // Hidden pages don't get animation frames.
    const later = document.hidden ? setTimeout : isFirst ? queueMicrotask : requestAnimationFrame;
    later(() => {
      isDrawing = false;
      isFirst = false;
      document.querySelector('main')?.classList.remove('loading');
      for (const name of waiting.splice(0)) setTimeout(() => void refresh(name), LATE_MS);
      const link = linkOf();
      const inbox = /** @type {Inbox | undefined} */ (feeds.inbox.data);
      // All pages show times as the daemon reads them, whatever zone the browser is in.
      setZone(inbox?.timezone);
      showLink(link);
      const title = draw(feeds, link);
      rove();
      showWaiting(inbox?.count ?? 0, title);
    });
  }

  /** @returns {Link} */
  function linkOf() {
    const isLost = names.every((name) => feeds[name].problem?.reached === false);
    const lostAt = isLost ? Math.max(...names.map((name) => feeds[name].goodAt ?? 0)) : undefined;
    return { isLive, lostAt, now: lostAt || Date.now(), isUpgraded };
  }

  /** @param {Name} name */
  async function refresh(name) {
    due.add(name);
    if (busy.has(name)) return;
    busy.add(name);
    while (due.delete(name)) {
      const answer = await ask(urls[name], etags[name]);
      const feed = feeds[name];
      if ('problem' in answer) feed.problem = answer.problem;
      else {
        if (answer.data !== undefined) feed.data = answer.data;
        etags[name] = answer.etag;
        feed.goodAt = Date.now();
        feed.problem = undefined;
      }
      drawSoon();
    }
    busy.delete(name);
  }

  async function askAll() {
    clearTimeout(timer);
    // A hidden page shows only its title.
    const needed = names.filter((name) => (document.hidden ? name === 'inbox' : !waiting.includes(name)));
    await Promise.all(needed.map(refresh));
    failures = names.some((name) => feeds[name].problem !== undefined) ? failures + 1 : 0;
    askLater();
  }

  function askLater() {
    clearTimeout(timer);
    const ms = document.hidden ? MINUTE_MS : Math.min(EVERY_MS * 2 ** failures, MINUTE_MS);
    if (!isLive || failures > 0) timer = setTimeout(() => void askAll(), ms);
  }

  /** @param {import('./daemon.js').Line} line */
  function onLine({ run, version: own, topic, etag, lost, reached }) {
    if (lost) {
      const was = isLive;
      isLive = false;
      // A last response may have been sent during a shutdown or before a start, so ask again.
      const isOther = names.some((name) => (feeds[name].problem?.reached === false) === reached);
      if (was || isOther) void askAll();
    } else if (run !== undefined && !isLive) {
      isUpgraded ||= version !== undefined && version !== own;
      version = own;
      isLive = true;
      if (failures === 0) clearTimeout(timer);
      topics.clear();
      // After a reconnect, the page may have missed changes.
      if (wasLive) void askAll();
      else drawSoon();
      wasLive = true;
    } else if (topic !== undefined && topics.get(topic) !== etag) {
      topics.set(topic, etag);
      for (const name of names) {
        if (topicOf(urls[name]) === topic && etags[name] !== etag) due.add(name);
      }
      soon ??= setTimeout(() => {
        soon = undefined;
        for (const name of due) void refresh(name);
      }, SOON_MS);
    }
  }

  document.addEventListener('visibilitychange', () => {
    if (document.hidden) askLater();
    else if (!isLive) void askAll();
  });
  addEventListener('online', () => void askAll());
  addEventListener('resize', drawSoon);
  addEventListener('pageshow', (event) => {
    if (event.persisted) void askAll();
  });
  // Another tab has signed in.
  addEventListener('storage', () => void askAll());
  addEventListener('hashchange', () => {
    void signIn().then((isNew) => {
      if (!isNew) return drawSoon();
      reconnect();
      return askAll();
    });
  });
  setInterval(drawSoon, MINUTE_MS);
  showHeader();
  watchKeys();
  watchCopies();
  watchForms();
  let reconnect = () => {};
  void signIn().then(() => {
    void askAll();
    reconnect = openStream(onLine);
    ownZone();
  });
  setTimeout(() => {
    if (!isFirst) return;
    isFirst = false;
    drawSoon();
  }, TOGETHER_MS);
  return { redraw: drawSoon, refresh: askAll };
}

/** Returns the topic that announces changes to a document. @param {string} url */
function topicOf(url) {
  const [, , name = ''] = url.split(/[/?]/);
  // Usage grows while the day does.
  if (name === 'usage') return 'day';
  return ['day', 'inbox', 'sessions', 'work', 'sense', 'notify'].includes(name) ? name : 'status';
}
