import type { ManagedClient } from './client';
import { eventKey, type ManagedEvent } from './event';
import { failureOf } from './failure';
import { networkFailureOf } from '../../platform/net/network-failure';

export interface Keyed {
  key: string;
  event: ManagedEvent;
}

/**
 * Reads a session's log from the service, page by page in its order. The first `read` gives all of it, the
 * following ones what came behind the last page, beginning with a few events that were given already.
 */
export interface History {
  /** Calls `take` for each page; false where the service has no list of events. */
  read: (take: (events: Keyed[]) => Promise<void>) => Promise<boolean>;
}

const MOST = 1000;
/** So many events are read again rather than moving the cursor with a request of its own. */
const SHORT_TAIL = 100;

export function openHistory(client: Pick<ManagedClient, 'events'>, session: string): History {
  /** The cursor of the last page, the key of what stands before it, and how many events that page had. */
  let page: string | undefined;
  let before = '';
  let tail = 0;
  let most = MOST;
  let served: boolean | undefined;

  const restart = (): void => {
    page = undefined;
    before = '';
    tail = 0;
  };

  return {
    read: async (take) => {
      if (served === false) return false;
      for (;;) {
        // Exactly the tail moves the cursor behind it as soon as there is more.
        const limit = Math.min(most, tail > SHORT_TAIL ? tail : MOST);
        let found;
        try {
          found = await client.events(session, { page, limit });
        } catch (error) {
          if (served === undefined && NOT_SERVED.has(failureOf(error)?.status ?? 0)) {
            served = false;
            return false;
          }
          if (networkFailureOf(error)?.code === 'TOO_LARGE' && limit > 1) {
            most = Math.max(1, Math.floor(limit / 8));
            continue;
          }
          // A cursor may be given up by the service; what it stood for is read again.
          if (page === undefined || failureOf(error)?.status !== 400) throw error;
          restart();
          continue;
        }
        served = true;
        let last = before;
        const events = found.data.map((event) => {
          last = eventKey(event, last);
          return { key: last, event };
        });
        await take(events);
        if (found.next === undefined || found.next === page) {
          tail = events.length;
          return true;
        }
        page = found.next;
        before = last;
        tail = 0;
      }
    },
  };
}

const NOT_SERVED = new Set([404, 405, 501]);
