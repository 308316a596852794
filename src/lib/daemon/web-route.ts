import * as v from 'valibot';

import type { UserArea } from '../config/user-area';
import { StewardError } from '../errors';
import type { Clock } from '../platform/time/clock';
import { pairedBrowser } from '../sense/web-pairing';
import type { SiteVisit } from '../sense/web';
import { isSite } from '../time/site';
import { bearerOf, headerOf, matcher } from './guards';
import { route, type RouteRequest, type Route } from './route';
import { checkedBody } from './write-route';

export interface WebRouteDeps {
  area: Pick<UserArea, 'machine'>;
  clock: Pick<Clock, 'now'>;
  /** Whether sense and its `web` source are on. */
  isOn: () => Promise<boolean>;
  add: (visit: SiteVisit) => void;
}

/** The extension sends a visit every minute. */
const MAX_VISIT_MS = 5 * 60_000;
/** The extension keeps visits for an hour. */
const MAX_AGE_MS = 2 * 3_600_000;
/** Browsers read the clock less precisely. */
const MAX_AHEAD_MS = 2_000;

const MS = v.pipe(v.number(), v.safeInteger());
const VISIT = v.strictObject({
  site: v.nullable(v.pipe(v.string(), v.check(isSite, 'Send a host name.'))),
  at: MS,
  until: MS,
});

/** The route to which the paired browser extensions send the time on a site. */
export function webRoute({ area, clock, isOn, add }: WebRouteDeps): Route {
  const isRecent = ({ at, until }: v.InferOutput<typeof VISIT>): boolean => {
    const [oldest, newest] = [clock.now() - MAX_AGE_MS, clock.now() + MAX_AHEAD_MS];
    return at > oldest && at < until && until <= newest && until - at <= MAX_VISIT_MS;
  };
  const schema = v.pipe(VISIT, v.check(isRecent, 'Check the clock of this computer.'));
  return route({
    method: 'POST',
    path: '/api/sense/web',
    status: 202,
    isOpen: true,
    extension: { maxBytes: 1024 },
    input: (request) => ({ ...checkedBody(schema, request.body), via: pairedIn(request, area) }),
    async run(visit) {
      if (!(await isOn())) {
        throw new StewardError('conflict', 'The source "web" is turned off.', {
          hint: 'Turn it on: steward config set sense.sources.web true',
        });
      }
      add(visit);
      return { accepted: true };
    },
  });
}

function pairedIn({ head }: RouteRequest, area: Pick<UserArea, 'machine'>): SiteVisit['via'] {
  const isCode = (token: string): boolean => matcher(token)(bearerOf(head));
  const browser = pairedBrowser(area, headerOf(head, 'origin') ?? '', isCode);
  if (browser !== undefined) return browser;
  throw new StewardError('auth', 'The pairing code is not valid, or another extension uses it.', {
    hint: 'Run "steward sense web pair" and enter the new code.',
  });
}
