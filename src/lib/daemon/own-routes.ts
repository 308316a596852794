import { StewardError } from '../errors';
import { isObject } from '../platform/files/json-object';
import { ownProcess } from '../platform/process/own-process';
import type { Gate } from './gate';
import { route, type Route } from './route';
import type { DaemonStatus } from './status';

export interface OwnRoutesDeps {
  version: string;
  status: () => Promise<DaemonStatus>;
  /** Ends the daemon once what has arrived is answered; `restarted`: to be started anew. */
  end: (ending: 'stopped' | 'restarted') => void;
  /** The address of the pages. */
  url: () => string;
  gate: Gate;
  requireToken: boolean;
}

/** `GET /healthz` */
export interface Healthz {
  status: 'ok';
  version: string;
  pid: number;
  uptimeSec: number;
}

/** `POST /api/open` */
export interface OpenLink {
  url: string;
  /** Null: the address is no secret and does not expire. */
  expiresInSec: number | null;
}

/** `POST /api/sign-in` */
export interface SignedIn {
  /** What the page sends as `Authorization: Bearer`; valid until the daemon ends. */
  secret: string;
}

/** The daemon's own state, stop, restart and sign-in. Stop, restart and open are for the local socket alone. */
export function ownRoutes(deps: OwnRoutesDeps): Route[] {
  return [
    {
      method: 'GET',
      path: '/healthz',
      isLive: true,
      run: (): Healthz => {
        const { pid, uptimeSec } = ownProcess();
        return { status: 'ok', version: deps.version, pid, uptimeSec };
      },
    },
    { method: 'GET', path: '/api/status', isLive: true, run: deps.status },
    {
      method: 'POST',
      path: '/api/stop',
      isLocal: true,
      run: () => {
        deps.end('stopped');
        return { stopping: true, pid: ownProcess().pid };
      },
    },
    {
      method: 'POST',
      path: '/api/restart',
      isLocal: true,
      run: () => {
        deps.end('restarted');
        return { restarting: true, pid: ownProcess().pid };
      },
    },
    { method: 'POST', path: '/api/open', isLocal: true, run: () => openLink(deps) },
    signInRoute(deps.gate),
  ];
}

function openLink({ gate, requireToken, url }: OwnRoutesDeps): OpenLink {
  if (!requireToken) return { url: `${url()}/`, expiresInSec: null };
  const { code, expiresInSec } = gate.newCode();
  // A fragment is sent to no server: the page reads it and trades it.
  return { url: `${url()}/#code=${code}`, expiresInSec };
}

function signInRoute(gate: Gate): Route {
  return route({
    method: 'POST',
    path: '/api/sign-in',
    isOpen: true,
    input: ({ body }) => {
      const code = isObject(body) ? body['code'] : undefined;
      if (typeof code === 'string') return code;
      throw new StewardError('usage', 'The body has no code.', { hint: 'Send {"code": "…"}.' });
    },
    run: (code): SignedIn => {
      const secret = gate.redeem(code);
      if (secret !== undefined) return { secret };
      throw new StewardError('auth', 'This sign-in link was used already, or has expired.', {
        hint: 'Run "steward open" for a new one.',
      });
    },
  });
}
