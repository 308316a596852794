// Signs the page in: trades the one-time code of the address for a secret of this run of the daemon. It is kept by
// origin and sent as a header, so no other port of this host gets to see it.

const KEY = 'steward-secret';

/** Where the browser keeps no site data, the secret lasts as long as the page. @type {string | null} */
let ownSecret = null;

/** Trades the code of the address; false if there is none, or it is refused. @param {AbortSignal} signal */
export async function signIn(signal) {
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
  if (code === undefined) return false;
  // Before the trade: the code stays neither in the address nor in the history, whatever comes of it.
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

/** The header that lets this page in; none before it has signed in. @returns {Record<string, string>} */
export function authorization() {
  const secret = storage()?.getItem(KEY) ?? ownSecret;
  return secret === null ? {} : { Authorization: `Bearer ${secret}` };
}

/** Undefined where the browser is set to keep no site data: then it throws at the mere name. */
function storage() {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}
