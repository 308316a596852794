import { codeOf, endedVisit, goesOn, recentVisits, siteOf, tickedSites } from './visits.js';

const api = globalThis.browser ?? globalThis.chrome;

/** The limit after which steward counts you as idle too, by default. */
const IDLE_SEC = 300;

/**
 * Returns the site in front: null if it is not ticked, undefined if no window of this browser has the focus or nobody
 * uses the computer.
 */
async function siteInFront() {
  if ((await api.idle.queryState(IDLE_SEC)) !== 'active') return undefined;
  const { origins } = await api.permissions.getAll();
  const front = await api.windows.getLastFocused({ populate: true }).catch(() => undefined);
  // Firefox says of a minimized window that it has the focus.
  if (front?.focused !== true || front.state === 'minimized' || front.incognito) return undefined;
  return siteOf(front.tabs.find(({ active }) => active)?.url, tickedSites(origins));
}

/** Ends the visit to the site that was in front, and begins the next one. */
async function look() {
  const { pairing } = await api.storage.local.get('pairing');
  if (pairing === undefined) return;
  const site = await siteInFront();
  const now = Date.now();
  const { current = null, queue = [], dropped = 0 } = await api.storage.session.get();
  const isSame = goesOn(current, site, now);
  const all = isSame ? queue : [...queue, ...endedVisit(current, now)];
  const kept = recentVisits(all, now);
  await api.storage.session.set({
    current: isSame ? current : site === undefined ? null : { site, at: now },
    queue: kept,
    dropped: dropped + all.length - kept.length,
  });
  await sendAll(pairing);
}

/**
 * Sends the queue, oldest first. Keeps what steward could not take now, and drops what it refused. Without a visit,
 * only checks the code until steward has accepted it.
 */
async function sendAll(pairing) {
  const about = codeOf(pairing);
  const { queue = [], dropped = 0, ...before } = await api.storage.session.get();
  if (queue.length === 0 && before.answer === 202 && before.about === about) return;
  let refused = 0;
  let sent = 0;
  let told;
  for (const visit of queue.length === 0 ? [null] : queue) {
    told = await send(pairing, visit);
    if (isLater(told.answer)) break;
    if (visit !== null && told.answer !== 202) refused += 1;
    sent += 1;
  }
  await api.storage.session.set({ queue: queue.slice(sent), dropped: dropped + refused, about, ...told });
}

/** Returns whether steward may take the same visit later: it does not run, is busy, or has a fault. */
function isLater(answer) {
  return answer === 0 || answer === 423 || answer >= 500;
}

/** Returns the HTTP status, or 0 if steward does not answer, and what steward says about it. */
async function send({ port, token }, visit) {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/api/sense/web`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(visit),
      credentials: 'omit',
    });
    const { accepted, error } = await response.json();
    if (accepted === true) return { answer: 202, said: '' };
    return { answer: response.status, said: `${error.message} ${error.hint ?? ''}`.slice(0, 400) };
  } catch {
    // Not running, or another program has the port.
    return { answer: 0, said: '' };
  }
}

/** Looks once more when the look before has ended, so that two never write at the same time. */
let last = Promise.resolve();
function lookNext() {
  last = last.then(look, look);
  return last;
}

/** Looks, and sends the code, although steward accepted it before. */
async function check() {
  await api.storage.session.remove('about');
  await look();
}

function checkNext() {
  last = last.then(check, check);
  return last;
}

api.tabs.onActivated.addListener(lookNext);
api.tabs.onUpdated.addListener((_id, change, { active }) => {
  if (active && (change.status !== undefined || change.url !== undefined)) return lookNext();
});
api.windows.onFocusChanged.addListener(lookNext);
api.permissions.onAdded.addListener(lookNext);
api.permissions.onRemoved.addListener(lookNext);
api.alarms.onAlarm.addListener(lookNext);
api.idle.onStateChanged.addListener(lookNext);
api.idle.setDetectionInterval(IDLE_SEC);
api.storage.local.onChanged.addListener(lookNext);
api.runtime.onMessage.addListener((message) => {
  if (message === 'check') void checkNext();
});
api.action.onClicked.addListener(() => api.runtime.openOptionsPage());
api.runtime.onInstalled.addListener(({ reason }) => {
  if (reason === 'install') return api.runtime.openOptionsPage();
});
void api.alarms.create('look', { periodInMinutes: 1 });
