// Polls the daemon while the page is visible. Sends the ETag of the last answer, keeps that answer through errors, and
// polls less often while errors last.

import { authorization, signIn } from './sign-in.js';

const EVERY_MS = 30_000;
const SLOWEST_MS = 60_000;
const PATIENCE_MS = 10_000;
/** For the rest of an answer: a slow connection takes longer than the daemon. */
const BODY_MS = 60_000;
/** The first drawing waits so long for all answers, so that late ones push nothing down. */
const TOGETHER_MS = 300;

/**
 * The state of one URL.
 * @typedef {object} Feed
 * @property {unknown} data the last good answer; undefined before the first
 * @property {number | undefined} goodAt when the daemon last confirmed it, ms
 * @property {Problem | undefined} problem what has been wrong since then
 */
/**
 * @typedef {object} Problem
 * @property {boolean} reached
 * @property {boolean} [signedOut] the daemon requires a sign-in that this page lacks or that has expired
 * @property {string} message
 * @property {string | undefined} [hint]
 */

/**
 * @template {string} K
 * @param {Record<K, string>} urls
 * @param {(feeds: Record<K, Feed>) => void} draw called with all feeds after each answer, at most once per frame
 * @param {number} [everyMs]
 */
export function follow(urls, draw, everyMs = EVERY_MS) {
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
  let isFirst = true;

  function drawSoon() {
    const isAwaited = names.some((name) => feeds[name].goodAt === undefined && !feeds[name].problem);
    if (isDrawing || (isFirst && isAwaited)) return;
    isDrawing = true;
    // A hidden page gets no animation frames.
    const soon = document.hidden ? (/** @type {() => void} */ run) => setTimeout(run) : requestAnimationFrame;
    soon(() => {
      isDrawing = false;
      isFirst = false;
      document.querySelector('main')?.classList.remove('loading');
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
    timer = setTimeout(() => void askAll(), Math.min(everyMs * 2 ** failures, SLOWEST_MS));
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
  setTimeout(() => {
    if (!isFirst) return;
    isFirst = false;
    drawSoon();
  }, TOGETHER_MS);
  return { redraw: drawSoon };
}

/** Signs in if the URL contains a code. After a failure the next poll shows the problem. */
function enter() {
  return signIn(AbortSignal.timeout(PATIENCE_MS)).catch(() => false);
}

/**
 * @param {string} url @param {string | undefined} etag
 * @returns {Promise<{ data?: unknown, etag: string | undefined } | { problem: Problem }>}
 */
async function ask(url, etag) {
  const stop = new AbortController();
  let timer = setTimeout(() => stop.abort(), PATIENCE_MS);
  try {
    const headers = { ...authorization(), ...(etag === undefined ? {} : { 'If-None-Match': etag }) };
    const response = await fetch(url, { headers, cache: 'no-store', signal: stop.signal });
    if (response.status === 304) return { etag };
    if (response.status === 401 && response.headers.has('WWW-Authenticate'))
      return { problem: { reached: true, signedOut: true, message: 'This page is not signed in.' } };
    clearTimeout(timer);
    timer = setTimeout(() => stop.abort(), BODY_MS);
    const body = await response.json().catch(() => undefined);
    if (stop.signal.aborted) return { problem: { reached: true, message: 'The response was incomplete.' } };
    if (!response.ok) return { problem: { reached: true, ...errorOf(body, response.status) } };
    if (body === undefined) return { problem: { reached: true, message: `Invalid JSON from ${url}.` } };
    return { data: body, etag: response.headers.get('ETag') ?? undefined };
  } catch {
    const isSlow = stop.signal.aborted;
    return {
      problem: {
        reached: false,
        message: isSlow ? 'The daemon did not respond in time.' : 'The daemon is not reachable.',
      },
    };
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the daemon's error message and hint. @param {any} body @param {number} status */
function errorOf(body, status) {
  const { message, hint } = body?.error ?? {};
  return {
    message: typeof message === 'string' ? message : `The daemon responded with status ${status}.`,
    hint: typeof hint === 'string' ? hint : undefined,
  };
}
