// The daemon's stream of changes. A browser has few connections per host, so one tab reads the stream and passes its
// lines on to the others.

import { readStream } from './daemon.js';

const NAME = 'steward-stream';
/** Two missed heartbeats. */
const SILENT_MS = 40_000;
/** A hidden page stays connected so long, for the number in its title. */
const HIDDEN_MS = 60_000;
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 30_000;

/** @typedef {{ run?: string, version?: string, topic?: string, etag?: string, lost?: boolean, joined?: boolean }} Line */

/**
 * Calls `onLine` with each line, and with `lost` when the stream has ended. Without locks or channels there are no lines.
 * Returns a function that connects again, after a sign-in.
 * @param {(line: Line) => void} onLine @returns {() => void}
 */
export function openStream(onLine) {
  if (!('locks' in navigator) || !('BroadcastChannel' in window)) return () => {};
  const channel = new BroadcastChannel(NAME);
  /** @type {AbortController | undefined} */
  let life;
  /** The first line, while this tab reads the stream. @type {Line | undefined} */
  let hello;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let silence;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let hiding;
  let wake = () => {};
  /** Ends the connection of this tab, which then tries again. */
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

  /** Reads the stream for all tabs, until this one is closed or hidden. @param {AbortSignal} signal */
  async function lead(signal) {
    let delay = FIRST_RETRY_MS;
    while (!signal.aborted) {
      const connection = new AbortController();
      drop = () => connection.abort();
      const isOffered = await readStream(AbortSignal.any([signal, connection.signal]), (line) => {
        if (line.run !== undefined) [hello, delay] = [line, FIRST_RETRY_MS];
        tell(line);
      }).catch(() => true);
      hello = undefined;
      tell({ lost: true });
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
  addEventListener('online', () => wake());
  addEventListener('pagehide', stop);
  addEventListener('pageshow', start);
  // Another tab has signed in.
  addEventListener('storage', restart);
  start();
  return restart;
}
