import { join } from 'node:path';

import { StewardError } from '../errors';
import { readBytes } from '../platform/files/atomic-file';
import { listFolder } from '../platform/files/folder';
import { isObject } from '../platform/files/json-object';
import { refreshCached, type Cached } from '../platform/files/file-cache';
import { markOfTarget } from '../platform/files/stat';
import { ownProcess } from '../platform/process/own-process';
import type { Clock } from '../platform/time/clock';
import { loopTurn } from '../platform/time/wait';
import { latestInsight, type InsightReadDeps } from '../sense/insight-reads';
import { type LiveReads, recent, type ReadDeps } from '../sense/read';
import { boardView, columnsView } from '../work/board';
import type { WorkDeps } from '../work/deps';
import { refresh } from '../work/poll';
import { workStatus } from '../work/status';
import type { Gate } from './guards';
import {
  JSON_HEADERS,
  route,
  SAFE_HEADERS,
  tagged,
  taggedAnswer,
  wholeNumber,
  type RawRoute,
  type Route,
  type Tagged,
} from './route';
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
export function ownRoutes({ version, status, end, url, gate, requireToken }: OwnRoutesDeps): Route[] {
  const { pid } = ownProcess();
  return [
    {
      method: 'GET',
      path: '/healthz',
      isLive: true,
      run: (): Healthz => ({ status: 'ok', version, ...ownProcess() }),
    },
    { method: 'GET', path: '/api/status', isLive: true, run: status },
    {
      method: 'POST',
      path: '/api/stop',
      isLocal: true,
      run: () => (end('stopped'), { stopping: true, pid }),
    },
    {
      method: 'POST',
      path: '/api/restart',
      isLocal: true,
      run: () => (end('restarted'), { restarting: true, pid }),
    },
    {
      method: 'POST',
      path: '/api/open',
      isLocal: true,
      run: (): OpenLink => {
        if (!requireToken) return { url: `${url()}/`, expiresInSec: null };
        const { code, expiresInSec } = gate.newCode();
        // A fragment is sent to no server: the page reads it and trades it.
        return { url: `${url()}/#code=${code}`, expiresInSec };
      },
    },
    route({
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
    }),
  ];
}

/** What is resolved again whenever a file of the configuration has changed; a broken one is `config`. */
type Opened<D> = () => D | Promise<D>;

export interface SenseRoutesDeps {
  sense: Opened<ReadDeps>;
  live: LiveReads;
  insights: InsightReadDeps['insights'];
}

const DEFAULT_DAYS = 7;

export function senseRoutes({ sense, live, insights }: SenseRoutesDeps): Route[] {
  // A live read gives the same object until something changes.
  const keptRead = <T>(path: string, read: (deps: ReadDeps) => T): RawRoute =>
    kept(path, sense, read, (_, value) => value);
  return [
    keptRead('/api/sense/today', live.today),
    keptRead('/api/sense/sources', live.sources),
    keptRead('/api/sense/status', live.status),
    {
      method: 'GET',
      path: '/api/sense/insight',
      run: async () => {
        const { clock, timezone, store } = await sense();
        return latestInsight({ clock, timezone, store, insights });
      },
    },
    route({
      method: 'GET',
      path: '/api/sense/recent',
      input: ({ query }) => wholeNumber(query, 'days') ?? DEFAULT_DAYS,
      run: async (days) => recent(await sense(), days),
    }),
  ];
}

/** How long a view is kept at most: staleness comes with time alone. */
const KEPT_MS = 1000;

/** The work module. Reading asks nobody but the cache. */
export function workRoutes(work: Opened<WorkDeps>): Route[] {
  const versionOf = ({ paths, clock }: WorkDeps): string =>
    [markOfTarget(paths.cache), markOfTarget(paths.poll), Math.floor(clock.monotonic() / KEPT_MS)].join(' ');
  return [
    kept('/api/work', work, versionOf, boardView),
    kept('/api/work/columns', work, versionOf, columnsView),
    { method: 'GET', path: '/api/work/status', isLive: true, run: async () => workStatus(await work()) },
    { method: 'POST', path: '/api/work/refresh', run: async () => refresh(await work()) },
  ];
}

/**
 * A read whose bytes are kept as long as its version stays the same. The requests that one turn of the loop brings had
 * all arrived when the first of them looked for what has changed: they share its look.
 */
function kept<D, V>(
  path: string,
  open: Opened<D>,
  versionOf: (deps: D) => V,
  valueOf: (deps: D, version: V) => unknown,
): RawRoute {
  let last: { deps: D; version: V; bytes: Tagged; turn: number } | undefined;
  const bytesOf = (deps: D): Tagged => {
    const version = versionOf(deps);
    const isSame = last !== undefined && last.version === version && last.deps === deps;
    const bytes =
      last !== undefined && isSame
        ? last.bytes
        : tagged(`${JSON.stringify(valueOf(deps, version))}\n`, JSON_HEADERS);
    last = { deps, version, bytes, turn: loopTurn() };
    return bytes;
  };
  return {
    method: 'GET',
    path,
    serve({ head }) {
      if (last?.turn === loopTurn()) return taggedAnswer(head, last.bytes);
      const deps = open();
      return deps instanceof Promise
        ? deps.then((found) => taggedAnswer(head, bytesOf(found)))
        : taggedAnswer(head, bytesOf(deps));
    },
  };
}

export interface PagesDeps {
  clock: Pick<Clock, 'now'>;
  /** The folder of the pages, and that of what the build made for them. */
  pages: string;
  assets: string;
}

/** The pages, and the file of each. */
const PAGES = [
  ['/', 'index.html'],
  ['/sense', 'sense.html'],
  ['/work', 'work.html'],
  ['/api/work/ui', 'work.html'],
] as const;

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
};

/** A page loads from this daemon alone, and stands in nobody's frame. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const ASSET = /^[a-z0-9][a-z0-9.-]*\.(css|js|svg|png)$/;
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * The pages and `/assets/<name>`: exactly the files that stand in two folders of the package when the daemon
 * starts; a path of a request never becomes a path of a file.
 */
export function pageRoutes({ clock, pages, assets }: PagesDeps): RawRoute[] {
  const files = new Map<string, string>(PAGES.map(([path, file]) => [path, join(pages, file)]));
  for (const folder of [pages, assets]) {
    for (const name of listFolder(folder))
      if (ASSET.test(name)) files.set(`/assets/${name}`, join(folder, name));
  }
  return [...files].map(([path, file]) => fileRoute(clock, path, file));
}

function fileRoute(clock: Pick<Clock, 'now'>, path: string, file: string): RawRoute {
  const type = TYPES[file.slice(file.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
  const headers = ['content-type', type, ...SAFE_HEADERS, 'content-security-policy', PAGE_POLICY];
  let last: Cached<Tagged> | undefined;
  return {
    method: 'GET',
    path,
    isOpen: true,
    serve({ head }) {
      last = refreshCached(clock, last, [file], () => tagged(bytesOf(file), headers));
      return taggedAnswer(head, last.value);
    },
  };
}

function bytesOf(file: string): Buffer {
  const bytes = readBytes(file, { maxBytes: MAX_BYTES, followLink: true });
  if (bytes !== undefined) return bytes;
  throw new StewardError('not_found', 'This page is not in the package.', {
    hint: 'Install steward again.',
  });
}
