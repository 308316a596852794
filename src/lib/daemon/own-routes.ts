import { StewardError } from '../errors';
import type { HttpAnswer } from '../platform/http-application';
import { ownProcess } from '../platform/own-process';
import type { Gate } from './gate';
import { DATA_POLICY, SAFE_HEADERS } from './http-error';
import type { Route } from './route';
import type { DaemonStatus } from './status';

export interface OwnRoutesDeps {
  version: string;
  status: () => Promise<DaemonStatus>;
  /** Ends the daemon once what has arrived is answered; `restarted`: to be started anew. */
  end: (ending: 'stopped' | 'restarted') => void;
  /** The address of the pages. */
  url: () => string;
  /** Undefined where no token is required. */
  gate: Gate | undefined;
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

/** What the daemon says of itself and how it is led (decisions.md 8). Leading it is for the local socket alone. */
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
    ...(deps.gate === undefined ? [] : [loginRoute(deps.gate)]),
  ];
}

function openLink({ gate, url }: OwnRoutesDeps): OpenLink {
  if (gate === undefined) return { url: `${url()}/`, expiresInSec: null };
  const { code, expiresInSec } = gate.newCode();
  return { url: `${url()}/open?code=${code}`, expiresInSec };
}

/** The one-time link: sets the cookie, and sends the browser to the page without the code in its address. */
function loginRoute(gate: Gate): Route {
  return {
    method: 'GET',
    path: '/open',
    isOpen: true,
    serve({ query, head }): HttpAnswer {
      const code = query.get('code') ?? undefined;
      // A link preview or a HEAD must not use up the code.
      const cookie = code === undefined || head.method !== 'GET' ? undefined : gate.redeem(code);
      if (cookie === undefined) {
        throw new StewardError('auth', 'This link was used, or is older than a minute.', {
          hint: 'Make a new one with "steward open".',
        });
      }
      const headers = [...SAFE_HEADERS, ...DATA_POLICY, 'cache-control', 'no-store'];
      return { status: 303, headers: [...headers, 'location', '/', 'set-cookie', cookie], body: '' };
    },
  };
}
