// Signs the page in: exchanges the one-time code in the URL for a secret that is valid until the daemon ends. The secret
// is stored by origin and sent as a header, so other ports of this host never see it.

const KEY = 'steward-secret';

/** Used if the browser blocks site data: the secret then lasts as long as the page. @type {string | null} */
let ownSecret = null;

/** Exchanges the code in the URL; returns false if it is missing or refused. @param {AbortSignal} signal */
export async function signIn(signal) {
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
  if (code === undefined) return false;
  // Remove the code from the URL and the history first, even if the exchange fails.
  history.replaceState(null, '', location.pathname + location.search);
  const response = await fetch('/api/sign-in', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ code }),
    signal,
  });
  if (!response.ok) return false;
  ownSecret = /** @type {import('../../src/lib/daemon/routes').SignedIn} */ (await response.json()).secret;
  storage()?.setItem(KEY, ownSecret);
  return true;
}

/** Returns the header that authorizes this page; none before the sign-in. @returns {Record<string, string>} */
export function authorization() {
  const secret = storage()?.getItem(KEY) ?? ownSecret;
  return secret === null ? {} : { Authorization: `Bearer ${secret}` };
}

/** Returns undefined if the browser blocks site data, where even reading `localStorage` throws. */
function storage() {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}
