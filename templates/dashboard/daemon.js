// Requests to the daemon. Signing in exchanges the one-time code in the URL for a secret. The secret is stored per
// origin and sent in a header, so other ports on this host never see it.

const KEY = 'steward-secret';
const PATIENCE_MS = 10_000;
/** Timeout for a response body. */
const BODY_MS = 60_000;

/**
 * @typedef {object} Problem
 * @property {boolean} reached
 * @property {boolean} [isLate] whether the daemon may still be running
 * @property {boolean} [signedOut] the sign-in is missing or has expired
 * @property {string} [kind] the daemon's name for the error
 * @property {string} message
 * @property {string | undefined} [hint]
 */

/** Holds the secret if the browser blocks site data. @type {string | null} */
let ownSecret = null;
/** Whether the daemon withheld the names in its last response, because this page is not signed in. */
export let isNameless = false;
/** Why the daemon refused the code in the URL. @type {string | undefined} */
export let refused;

/** Whether the data is invented. */
export const isDemo = globalThis.document?.documentElement.hasAttribute('data-demo') === true;

/** Rewrites the steward commands in a text to those that act on the demo's data, but for what sets up your own. @param {string} text */
export function typedHere(text) {
  return isDemo
    ? text.replace(/(^|["`(]|: )steward (?!demo\b|up\b|init\b|install\b|uninstall\b)/g, '$1steward demo -- ')
    : text;
}

/** Exchanges the code in the URL for the secret; returns false if the code is missing or refused. */
export async function signIn() {
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
  if (code === undefined) return false;
  // Remove the code from the URL and the history, even if the exchange fails.
  history.replaceState(null, '', location.pathname + location.search);
  const { data, problem } = await post('/api/sign-in', { code });
  refused = problem;
  ownSecret = data?.secret ?? null;
  if (ownSecret !== null) storage()?.setItem(KEY, ownSecret);
  return ownSecret !== null;
}

/** Returns whether this page may make changes. */
export function isSignedIn() {
  return secret() !== null;
}

function secret() {
  return storage()?.getItem(KEY) ?? ownSecret ?? (isDemo ? 'demo' : null);
}

/** Deletes a secret that the daemon rejected. @param {string | null} refused */
function forget(refused) {
  if (secret() !== refused) return;
  ownSecret = null;
  storage()?.removeItem(KEY);
}

/** @returns {Record<string, string>} */
function authorization() {
  return isSignedIn() ? { Authorization: `Bearer ${secret()}` } : {};
}

/** Returns localStorage, or undefined if the browser blocks site data. */
export function storage() {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}

/**
 * Posts a change. Returns the result or the problem.
 * @param {string} url @param {object} body @returns {Promise<{ data?: any, problem?: string }>}
 */
export async function post(url, body) {
  const sent = secret();
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...authorization() },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(BODY_MS),
    });
    const data = await response.json().catch(() => undefined);
    if (response.ok) return { data };
    if (response.status === 403) forget(sent);
    const { message, hint = '' } = errorOf(data, response.status);
    return { problem: `${message} ${hint}`.trim() };
  } catch {
    // It may be running again when this is read.
    return { problem: 'The daemon did not answer. Try again when it runs.' };
  }
}

/** The requests that began before a page's script, by URL. @type {Map<string, ReturnType<typeof request>>} */
const early = new Map();

/** Begins the first requests of a page, unless it has to sign in before. @param {string[]} urls */
export function askEarly(urls) {
  if (!location.hash.startsWith('#code=')) for (const url of urls) early.set(url, request(url));
}

/** @param {string} url @param {string} [etag] */
function request(url, etag) {
  const stop = new AbortController();
  const headers = { ...authorization(), ...(etag === undefined ? {} : { 'If-None-Match': etag }) };
  const response = fetch(url, { headers, cache: 'no-store', signal: stop.signal });
  return { stop, timer: setTimeout(() => stop.abort(), PATIENCE_MS), response };
}

/**
 * @param {string} url @param {string | undefined} etag
 * @returns {Promise<{ data?: unknown, etag: string | undefined } | { problem: Problem }>}
 */
export async function ask(url, etag) {
  const { stop, timer: patience, response: sent } = early.get(url) ?? request(url, etag);
  early.delete(url);
  let timer = patience;
  try {
    const response = await sent;
    if (response.status === 304) return { etag };
    if (response.status === 401 && response.headers.has('WWW-Authenticate'))
      return { problem: { reached: true, signedOut: true, message: 'This page is not signed in.' } };
    clearTimeout(timer);
    timer = setTimeout(() => stop.abort(), BODY_MS);
    const withholds = response.headers.has('steward-names');
    const body = await response
      .text()
      .then((text) => JSON.parse(text, withholds ? nameless : undefined))
      .catch(() => undefined);
    if (stop.signal.aborted) return { problem: { reached: true, message: 'The response was incomplete.' } };
    if (!response.ok) return { problem: { reached: true, ...errorOf(body, response.status) } };
    if (body === undefined) return { problem: { reached: true, message: `Invalid JSON from ${url}.` } };
    isNameless = withholds;
    return { data: body, etag: response.headers.get('ETag') ?? undefined };
  } catch {
    const message = stop.signal.aborted
      ? 'The daemon did not respond in time.'
      : 'The daemon is not reachable.';
    return { problem: { reached: false, isLate: stop.signal.aborted, message } };
  } finally {
    clearTimeout(timer);
  }
}

/** Replaces withheld names with ids. @param {string} _key @param {any} value */
function nameless(_key, value) {
  if (value?.title === null) value.title = value.number ? `#${value.number}` : (value.slug ?? null);
  if (value?.name === null) value.name = value.slug;
  if (value?.subject === null) value.subject = value.sha.slice(0, 7);
  if (value?.text === null) value.text = 'Text not shown';
  return value;
}

/** @param {any} body @param {number} status */
function errorOf(body, status) {
  const { kind, message, hint } = body?.error ?? {};
  return {
    kind,
    message: typeof message === 'string' ? message : `The daemon responded with status ${status}.`,
    hint: typeof hint === 'string' ? typedHere(hint) : undefined,
  };
}

/**
 * Calls `onLine` with each line until the stream ends. Returns whether to retry.
 * @param {AbortSignal} signal @param {(line: any) => void} onLine
 */
async function readStream(signal, onLine) {
  const sent = secret();
  const response = await fetch('/api/stream', { headers: authorization(), cache: 'no-store', signal });
  if (response.status !== 200 || response.body === null) return response.status === 503;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return true;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines.map((text) => JSON.parse(text))) {
      if (line.signedIn === false) forget(sent);
      onLine(line);
    }
  }
}

// Browsers limit connections per host, so one tab reads the stream and forwards its lines to other tabs.

const NAME = 'steward-stream';
/** How long the stream may be silent: two heartbeats. */
const SILENT_MS = 40_000;
/** How long a hidden page stays connected and updates its title. */
const HIDDEN_MS = 60_000;
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 30_000;

/** @typedef {{ run?: string, version?: string, topic?: string, etag?: string, lost?: boolean, reached?: boolean, joined?: boolean }} Line */

/**
 * Calls `onLine` with each line, and with `{ lost: true }` when the stream ends; `reached` says whether the daemon answered. Does nothing if the browser lacks
 * Web Locks or BroadcastChannel. Returns a function that reconnects.
 * @param {(line: Line) => void} onLine @returns {() => void}
 */
export function openStream(onLine) {
  if (!('locks' in navigator) || !('BroadcastChannel' in window)) return () => {};
  const channel = new BroadcastChannel(NAME);
  /** @type {AbortController | undefined} */
  let life;
  /** The stream's first line, if this tab reads the stream. @type {Line | undefined} */
  let hello;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let silence;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let hiding;
  let delay = FIRST_RETRY_MS;
  let wake = () => {};
  /** Ends this tab's connection; the tab then reconnects. */
  let drop = () => {};

  /** @param {Line} line */
  function take(line) {
    clearTimeout(silence);
    if (!line.lost) silence = setTimeout(() => (drop(), take({ lost: true })), SILENT_MS);
    onLine(line);
  }

  /** @param {Line} line */
  function tell(line) {
    channel.postMessage(line);
    take(line);
  }

  /** Reads the stream for all tabs, until this tab is closed or hidden. @param {AbortSignal} signal */
  async function lead(signal) {
    delay = FIRST_RETRY_MS;
    while (!signal.aborted) {
      /** @type {boolean | undefined} */
      let reached = true;
      const connection = new AbortController();
      drop = () => connection.abort();
      const either = AbortSignal.any([signal, connection.signal]);
      const isOffered = await readStream(either, (line) => {
        if (line.run !== undefined) [hello, delay] = [line, FIRST_RETRY_MS];
        tell(line);
      }).catch(() => {
        reached = either.aborted ? undefined : false;
        return true;
      });
      hello = undefined;
      tell({ lost: true, reached });
      if (!isOffered && !signal.aborted) life = undefined;
      if (!isOffered) return;
      const ms = delay * (0.75 + Math.random() / 2);
      delay = Math.min(delay * 2, LAST_RETRY_MS);
      await new Promise((done) => {
        wake = () => done(undefined);
        setTimeout(wake, ms);
      });
    }
  }

  function start() {
    clearTimeout(hiding);
    wake();
    if (life !== undefined) return;
    const { signal } = (life = new AbortController());
    channel.postMessage({ joined: true });
    void navigator.locks.request(NAME, { signal }, () => lead(signal)).catch(() => {});
  }

  function stop() {
    clearTimeout(silence);
    life?.abort();
    life = undefined;
    wake();
  }

  function restart() {
    drop();
    start();
  }

  channel.addEventListener('message', ({ data }) => {
    if (!data.joined) take(data);
    else if (hello !== undefined) channel.postMessage(hello);
  });
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) hiding = setTimeout(stop, HIDDEN_MS);
    else start();
  });
  addEventListener('online', () => {
    // The first request may still fail.
    delay = FIRST_RETRY_MS;
    wake();
  });
  addEventListener('pagehide', stop);
  addEventListener('pageshow', start);
  // Another tab has signed in.
  addEventListener('storage', restart);
  start();
  return restart;
}
