// Follows the daemon's answers: asks at intervals while the page is seen, sends the ETag of what it has, keeps the
// last good answer through errors, and asks less often while they last.

import { authorization, signIn } from './sign-in.js';

const EVERY_MS = 30_000;
const SLOWEST_MS = 60_000;
const PATIENCE_MS = 10_000;

/**
 * What is known of one address.
 * @typedef {object} Feed
 * @property {unknown} data the last good answer; undefined before the first
 * @property {number | undefined} goodAt when the daemon last confirmed it, ms
 * @property {Problem | undefined} problem what is wrong since then
 */
/**
 * @typedef {object} Problem
 * @property {boolean} reached
 * @property {boolean} [signedOut] the daemon requires a sign-in that this page does not have, or no longer
 * @property {string} message
 * @property {string | undefined} [hint]
 */

/**
 * @template {string} K
 * @param {Record<K, string>} urls
 * @param {(feeds: Record<K, Feed>) => void} draw called with all of them after each answer, at most once a frame
 */
export function follow(urls, draw) {
  const names = /** @type {K[]} */ (Object.keys(urls));
  const feeds = /** @type {Record<K, Feed>} */ (
    Object.fromEntries(
      names.map((name) => [name, { data: undefined, goodAt: undefined, problem: undefined }]),
    )
  );
  /** @type {Partial<Record<K, string>>} */
  const etags = {};
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let failures = 0;
  let isAsking = false;
  let isDrawing = false;

  function drawSoon() {
    if (isDrawing) return;
    isDrawing = true;
    // A page that is not seen gets no frames.
    const soon = document.hidden ? (/** @type {() => void} */ run) => setTimeout(run) : requestAnimationFrame;
    soon(() => {
      isDrawing = false;
      draw(feeds);
    });
  }

  async function askAll() {
    if (isAsking) return;
    clearTimeout(timer);
    isAsking = true;
    await Promise.all(
      names.map(async (name) => {
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
      }),
    );
    isAsking = false;
    failures = names.some((name) => feeds[name].problem !== undefined) ? failures + 1 : 0;
    plan();
  }

  function plan() {
    clearTimeout(timer);
    if (document.hidden) return;
    timer = setTimeout(() => void askAll(), Math.min(EVERY_MS * 2 ** failures, SLOWEST_MS));
  }

  document.addEventListener('visibilitychange', () => {
    if (document.hidden) clearTimeout(timer);
    else void askAll();
  });
  addEventListener('online', () => void askAll());
  addEventListener('pageshow', (event) => {
    if (event.persisted) void askAll();
  });
  // Another tab has signed in.
  addEventListener('storage', () => void askAll());
  addEventListener('hashchange', () => void enter().then((isNew) => (isNew ? askAll() : undefined)));
  void enter().then(askAll);
  return { redraw: drawSoon };
}

/** Signs in if the address says so. Should that fail, the reads say what is wrong. */
function enter() {
  return signIn(AbortSignal.timeout(PATIENCE_MS)).catch(() => false);
}

/**
 * @param {string} url @param {string | undefined} etag
 * @returns {Promise<{ data?: unknown, etag: string | undefined } | { problem: Problem }>}
 */
async function ask(url, etag) {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), PATIENCE_MS);
  try {
    const headers = { ...authorization(), ...(etag === undefined ? {} : { 'If-None-Match': etag }) };
    const response = await fetch(url, { headers, cache: 'no-store', signal: stop.signal });
    if (response.status === 304) return { etag };
    if (response.status === 401 && response.headers.has('WWW-Authenticate'))
      return { problem: { reached: true, signedOut: true, message: 'This page is not signed in.' } };
    const body = await response.json().catch(() => undefined);
    if (!response.ok) return { problem: { reached: true, ...told(body, response.status) } };
    if (body === undefined) return { problem: { reached: true, message: `Invalid JSON from ${url}.` } };
    return { data: body, etag: response.headers.get('ETag') ?? undefined };
  } catch {
    const isSlow = stop.signal.aborted;
    return {
      problem: {
        reached: false,
        message: isSlow ? 'The daemon did not answer in time.' : 'The daemon is not reachable.',
      },
    };
  } finally {
    clearTimeout(timer);
  }
}

/** What the daemon says of an error. @param {any} body @param {number} status */
function told(body, status) {
  const { message, hint } = body?.error ?? {};
  return {
    message: typeof message === 'string' ? message : `The daemon answered with status ${status}.`,
    hint: typeof hint === 'string' ? hint : undefined,
  };
}
