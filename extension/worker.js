import { endedVisit, recentVisits, siteOf, tickedSites } from './visits.js';

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
  if (front?.focused !== true || front.incognito) return undefined;
  return siteOf(front.tabs.find(({ active }) => active)?.url, tickedSites(origins));
}

/** Ends the visit to the site that was in front, and begins the next one. */
async function look() {
  const { pairing } = await api.storage.local.get('pairing');
  if (pairing === undefined) return;
  const site = await siteInFront();
  const now = Date.now();
  const { current = null, queue = [], dropped = 0 } = await api.storage.session.get();
  const all = [...queue, ...endedVisit(current, now)];
  const kept = recentVisits(all, now);
  await api.storage.session.set({
    current: site === undefined ? null : { site, at: now },
    queue: kept,
    dropped: dropped + all.length - kept.length,
  });
  await sendAll(pairing);
}

/** Sends the queue, oldest first. Keeps what steward could not take now, and drops what it refused. */
async function sendAll(pairing) {
  const { queue = [], dropped = 0 } = await api.storage.session.get();
  if (queue.length === 0) return;
  const refused = [];
  let answer = 202;
  let sent = 0;
  for (const visit of queue) {
    answer = await send(pairing, visit);
    if (answer === 0 || answer >= 500) break;
    if (answer !== 202) refused.push(visit);
    sent += 1;
  }
  await api.storage.session.set({ queue: queue.slice(sent), dropped: dropped + refused.length, answer });
}

/** Returns the HTTP status, or 0 if steward is not running. */
async function send({ port, token }, visit) {
  try {
    const { status } = await fetch(`http://127.0.0.1:${port}/api/sense/web`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(visit),
      credentials: 'omit',
    });
    return status;
  } catch {
    return 0;
  }
}

/** Looks once more when the look before has ended, so that two never write at the same time. */
let last = Promise.resolve();
function lookNext() {
  last = last.then(look, look);
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
api.action.onClicked.addListener(() => api.runtime.openOptionsPage());
api.runtime.onInstalled.addListener(({ reason }) => {
  if (reason === 'install') return api.runtime.openOptionsPage();
});
void api.alarms.create('look', { periodInMinutes: 1 });
