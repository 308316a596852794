/** What the worker decides, without the browser's functions. Times are in ms since 1970. */

/** The longest time between two looks at the browser; more means sleep, or a change of the clock. */
const MAX_GAP_MS = 90_000;
const MIN_MS = 5_000;
const HOUR_MS = 3_600_000;
const MAX_VISITS = 2_000;

/** The names that steward takes: no address, no number, and not one word such as localhost. */
const SITE = /^(?=.{4,100}$)(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z](?:[a-z0-9-]*[a-z0-9])?$/;

/** Returns the name in what was typed, which may be an address, or undefined. */
export function siteName(text) {
  const typed = text.trim();
  const address = typed.includes('://') ? typed : `https://${typed}`;
  const name = URL.canParse(address) ? new URL(address).hostname : '';
  return SITE.test(name) ? name : undefined;
}

/** Returns the names that were ticked, from the permissions that the browser holds. */
export function tickedSites(origins) {
  return origins
    .map((origin) => /^(?:https?|\*):\/\/(?:\*\.)?([^/]+)\/\*$/.exec(origin)?.[1] ?? '')
    .filter((name) => SITE.test(name));
}

/** Returns the ticked name that an address belongs to, or null. The browser hides other addresses. */
export function siteOf(url, ticked) {
  if (url === undefined || !URL.canParse(url)) return null;
  const { hostname } = new URL(url);
  const names = ticked.filter((name) => hostname === name || hostname.endsWith(`.${name}`));
  return names.sort((a, b) => b.length - a.length)[0] ?? null;
}

/**
 * Returns the visit that ends now, if any. The worker looks every minute, so a longer time means that the
 * computer slept or that its clock was changed.
 */
export function endedVisit(current, now) {
  if (current === null) return [];
  const { site, at } = current;
  return now > at && now - at <= MAX_GAP_MS ? [{ site, at, until: now }] : [];
}

/** Returns whether a visit goes on, because a page that loads gives several signs. */
export function goesOn(current, site, now) {
  return current !== null && current.site === site && now >= current.at && now - current.at < MIN_MS;
}

/** Returns the visits of the last hour. */
export function recentVisits(queue, now) {
  return queue.filter(({ until }) => until > now - HOUR_MS).slice(-MAX_VISITS);
}

/** Returns the pairing code, which `parseCode` parses. */
export function codeOf({ port, token }) {
  return `${port}-${token}`;
}

/** Parses a pairing code such as `31337-k3…`, or returns undefined. */
export function parseCode(text) {
  const [, port, token] = /^(\d{1,5})-([\w-]{32,64})$/.exec(text.trim()) ?? [];
  const isPort = Number(port) > 0 && Number(port) < 65_536;
  return isPort ? { port: Number(port), token } : undefined;
}
