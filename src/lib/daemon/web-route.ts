import * as v from 'valibot';

import type { UserArea } from '../config/user-area';
import { StewardError } from '../errors';
import type { RequestHead } from '../platform/net/http-application';
import { isSite } from '../platform/net/site';
import type { Clock } from '../platform/time/clock';
import { MAX_AGE_MS, type SiteVisit } from '../sense/web';
import { pairedBrowser } from '../sense/web-pairing';
import { bearerOf, headerOf, matcher } from './guards';
import { route, type Route } from './route';
import { checkedBody } from './write-route';

export interface WebRouteDeps {
  area: Pick<UserArea, 'machine'>;
  clock: Pick<Clock, 'now'>;
  /** Returns why sites are not recorded, and the command that changes it. */
  whyOff: () => Promise<{ found: string; fix: string } | undefined>;
  store: (visit: SiteVisit) => Promise<void>;
}

/** The extension sends a visit every minute. */
const MAX_VISIT_MS = 5 * 60_000;
/** Browsers read the clock less precisely. */
const MAX_AHEAD_MS = 2_000;

const MS = v.pipe(v.number(), v.safeInteger('Send whole milliseconds since 1970.'));
const VISIT = v.strictObject({
  site: v.nullable(v.pipe(v.string(), v.check(isSite, 'Send a host name such as docs.rs.'))),
  at: MS,
  until: MS,
});

/** The route to which the paired browser extensions send the time on a site, or null to check the code. */
export function webRoute({ area, clock, whyOff, store }: WebRouteDeps): Route {
  const schema = v.nullable(VISIT);
  return route({
    method: 'POST',
    path: '/api/sense/web',
    status: 202,
    isOpen: true,
    extension: { maxBytes: 1024, admit: (head) => pairedIn(head, area) },
    input: ({ head, body }) => ({ via: pairedIn(head, area), visit: checkedBody(schema, body) }),
    async run({ via, visit }) {
      const off = await whyOff();
      if (off !== undefined) {
        throw new StewardError('conflict', `Sites are not recorded: ${off.found}.`, {
          hint: `Run "${off.fix}".`,
        });
      }
      if (visit !== null) refuseTimes(visit, clock.now());
      if (visit !== null) await store({ ...visit, via });
      return { accepted: true };
    },
  });
}

/** Throws `usage` for times that only a change of the clock explains. */
function refuseTimes({ at, until }: Pick<SiteVisit, 'at' | 'until'>, nowMs: number): void {
  const ms = until - at;
  const isOld = nowMs - at >= MAX_AGE_MS;
  const isAhead = until - nowMs > MAX_AHEAD_MS;
  if (!isOld && !isAhead && ms > 0 && ms <= MAX_VISIT_MS) return;
  const why = isOld
    ? 'it began 2 hours ago or earlier'
    : isAhead
      ? 'it ends in the future'
      : `it lasts ${ms / 1000} s`;
  throw new StewardError('usage', `A visit was not stored, because ${why}: the clock was changed.`, {
    hint: 'If the time of this computer is right now, do nothing: the next visits are stored.',
  });
}

function pairedIn(head: RequestHead, area: Pick<UserArea, 'machine'>): SiteVisit['via'] {
  const via = pairedBrowser(area, headerOf(head, 'origin') ?? '', (token) => matcher(token)(bearerOf(head)));
  if (via !== undefined) return via;
  throw new StewardError('auth', 'The pairing code is not valid.', {
    hint: 'Enter the code that "steward sense web install" shows.',
  });
}
