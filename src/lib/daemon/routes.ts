import { join } from 'node:path';
import * as v from 'valibot';

import { StewardError } from '../errors';
import { readBytes } from '../platform/files/atomic-file';
import { refreshCached, type Cached } from '../platform/files/file-cache';
import { listFolder } from '../platform/files/folder';
import { isObject } from '../platform/files/json-object';
import { ownProcess } from '../platform/process/own-process';
import type { Clock } from '../platform/time/clock';
import { isDay, type Day } from '../platform/time/time';
import { yielder } from '../platform/time/wait';
import type { Classified } from '../sense/classify-file';
import { latestInsight, type InsightReadDeps } from '../sense/insight-reads';
import type { LiveReads } from '../sense/live';
import { prepareDays, recentDays, recentParts, today, type ReadDeps } from '../sense/read';
import { todayOf } from '../sense/roll';
import { APP_KINDS, type AppKind } from '../time/classify';
import { minutesIn } from '../time/ledger/model';
import { type DailyRecord, recordDocument } from '../time/record';
import type { Gate } from './guards';
import {
  cached,
  dayIn,
  JSON_HEADERS,
  machineIn,
  oneOf,
  route,
  SAFE_HEADERS,
  tagged,
  taggedAnswer,
  wholeNumber,
  type Opened,
  type RawRoute,
  type Route,
  type Tagged,
} from './route';
import type { DaemonStatus } from './status';
import { writeRoute } from './write-route';

export interface OwnRoutesDeps {
  version: string;
  build: string;
  status: () => Promise<DaemonStatus>;
  /** Ends the daemon after it has answered all pending requests. */
  end: (ending: 'stopped' | 'restarted') => void;
  url: () => string;
  gate: Gate;
}

/** Response to `GET /healthz`. */
export interface Healthz {
  status: 'ok';
  version: string;
  /** Version and build. */
  build: string;
  pid: number;
  uptimeSec: number;
}

/** Response to `POST /api/open`. */
export interface OpenLink {
  url: string;
  expiresInSec: number;
}

/** Routes for health, status, stop, restart and sign-in. */
export function ownRoutes({ version, build, status, end, url, gate }: OwnRoutesDeps): Route[] {
  const { pid } = ownProcess();
  const local = (path: string, run: () => object): Route => ({ method: 'POST', path, isLocal: true, run });
  return [
    {
      method: 'GET',
      path: '/healthz',
      isLive: true,
      run: (): Healthz => ({ status: 'ok', version, build, ...ownProcess() }),
    },
    { method: 'GET', path: '/api/status', isLive: true, run: status },
    local('/api/stop', () => (end('stopped'), { stopping: true, pid })),
    local('/api/restart', () => (end('restarted'), { restarting: true, pid })),
    local('/api/open', (): OpenLink => {
      const { code, expiresInSec } = gate.newCode();
      // The code is in the URL's fragment, which browsers never send to a server.
      return { url: `${url()}/#code=${code}`, expiresInSec };
    }),
    route({
      method: 'POST',
      path: '/api/sign-in',
      isOpen: true,
      input: ({ body }) => {
        const code = isObject(body) ? body['code'] : undefined;
        if (typeof code === 'string') return code;
        throw new StewardError('usage', 'The body has no sign-in code.', { hint: 'Send {"code": "…"}.' });
      },
      run: (code) => {
        const secret = gate.redeem(code);
        if (secret !== undefined) return { secret };
        throw new StewardError('auth', 'This sign-in link has already been used or has expired.', {
          hint: 'Run "steward open" for a new link.',
        });
      },
    }),
  ];
}

export interface SenseRoutesDeps {
  sense: Opened<ReadDeps>;
  live: LiveReads;
  insights: InsightReadDeps['insights'];
  /** Does the same as `steward sense classify set`. */
  classify: (input: { app: string; kind: AppKind; since?: Day | undefined }) => Promise<Classified>;
  /** Returns dependencies that read only the data of one machine. */
  daysOfMachine: (deps: ReadDeps, machine: string) => Promise<ReadDeps>;
}

const DEFAULT_DAYS = 7;
/** How long a request may keep others waiting. */
const SLICE_MS = 10;

/** A day of `GET /api/sense/recent?fields=totals`. The pages use this type. */
export type DayTotals = ReturnType<typeof totalsOf>;

function totalsOf(record: DailyRecord) {
  const { date, totalMinutes, creationMinutes, consumptionMinutes, neutralMinutes } = recordDocument(record);
  const { cells } = record.ledger;
  return {
    date,
    totalMinutes,
    creationMinutes,
    consumptionMinutes,
    neutralMinutes,
    workingMinutes: minutesIn(cells, 'working'),
    waitingMinutes: minutesIn(cells, 'waiting'),
    commits: record.commits.count,
  };
}
const APP = v.pipe(v.string(), v.maxLength(200));
const DAY = v.optional(v.pipe(v.string(), v.check(isDay, 'Use a day such as 2026-11-20.')));

export function senseRoutes({ sense, live, insights, classify, daysOfMachine }: SenseRoutesDeps): Route[] {
  const liveRoute = <T>(path: string, read: (deps: ReadDeps) => T): RawRoute =>
    cached(path, sense, read, (_, value) => value);
  const depsOf = async (machine: string | undefined): Promise<ReadDeps> =>
    machine === undefined ? sense() : daysOfMachine(await sense(), machine);
  const todayRoute = liveRoute('/api/sense/today', live.today);
  return [
    {
      ...todayRoute,
      async serve(request) {
        const machine = machineIn(request.query);
        const deps = await depsOf(machine);
        await prepareDays(deps, [todayOf(deps)]);
        if (machine === undefined) return todayRoute.serve(request);
        const { record } = today(deps);
        return taggedAnswer(
          request.head,
          tagged(`${JSON.stringify(recordDocument(record))}\n`, JSON_HEADERS),
        );
      },
    },
    liveRoute('/api/sense/sources', live.sources),
    liveRoute('/api/sense/status', live.status),
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
      input: ({ query }) => ({
        days: wholeNumber(query, 'days') ?? DEFAULT_DAYS,
        to: dayIn(query, 'to'),
        machine: machineIn(query),
        fields: oneOf(query, 'fields', ['totals']),
      }),
      run: async ({ days, to, machine, fields }) => {
        const deps = await depsOf(machine);
        const range = to === undefined ? {} : { to };
        const machines = deps.machines?.();
        if (machines !== undefined) await prepareDays(deps, recentDays(deps, machines, days, range));
        const turn = yielder(deps.clock, SLICE_MS);
        const rows: object[] = [];
        for (const part of recentParts(deps, days, range)) {
          rows.push(...part.map((record) => (fields === undefined ? recordDocument : totalsOf)(record)));
          await turn();
        }
        return rows.reverse();
      },
    }),
    writeRoute('/api/sense/classify', { app: APP, kind: v.picklist(APP_KINDS), since: DAY }, classify),
  ];
}

export interface PagesDeps {
  clock: Pick<Clock, 'now'>;
  /** The folders with the pages' HTML files and with the built assets. */
  pages: string;
  assets: string;
  /** Whether the pages say that their data is invented. */
  isDemo?: boolean;
}

const PAGES = [
  ['/', 'index.html'],
  ['/sense', 'sense.html'],
  ['/sessions', 'sessions.html'],
  ['/status', 'status.html'],
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

/** Pages may load resources only from this daemon, and can't be framed. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const ASSET = /^[a-z0-9][a-z0-9.-]*\.(css|js|svg|png)$/;
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Serves the pages and `/assets/NAME`. Lists the files at startup, so that no request path is used as a file
 * path.
 */
export function pageRoutes({ clock, pages, assets, isDemo = false }: PagesDeps): RawRoute[] {
  const files = new Map<string, string>(PAGES.map(([path, file]) => [path, join(pages, file)]));
  for (const name of listFolder(assets))
    if (ASSET.test(name)) files.set(`/assets/${name}`, join(assets, name));
  const read = (file: string): Buffer => served(file, isDemo);
  const routes = [...files].map(([path, file]) => fileRoute(clock, path, file, read));
  const today = fileRoute(clock, '/sense', join(pages, 'index.html'), read);
  return routes.map((week) =>
    week.path === '/sense'
      ? { ...week, serve: (request) => (request.query.has('day') ? today : week).serve(request) }
      : week,
  );
}

function fileRoute(
  clock: Pick<Clock, 'now'>,
  path: string,
  file: string,
  read: (file: string) => Buffer,
): RawRoute {
  const type = TYPES[file.slice(file.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
  const headers = ['content-type', type, ...SAFE_HEADERS, 'content-security-policy', PAGE_POLICY];
  let last: Cached<Tagged> | undefined;
  return {
    method: 'GET',
    path,
    isOpen: true,
    serve({ head }) {
      last = refreshCached(clock, last, [file], () => tagged(read(file), headers));
      return taggedAnswer(head, last.value);
    },
  };
}

function served(file: string, isDemo: boolean): Buffer {
  const bytes = readBytes(file, { maxBytes: MAX_BYTES, followLink: true });
  if (bytes !== undefined && isDemo && file.endsWith('.html'))
    return Buffer.from(bytes.toString().replace('<html lang="en">', '<html lang="en" data-demo>'));
  if (bytes !== undefined) return bytes;
  throw new StewardError('not_found', 'This page is missing from the package.', {
    hint: 'Reinstall steward.',
  });
}
