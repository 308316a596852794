import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, extname, join } from 'node:path';
import type { Browser } from 'playwright-core';

import { findProgram } from '../../src/lib/platform/process/spawn';

/** With these, each new window of Chromium loads some 250 files of its own address bar beside the page. */
const ADDRESS_BAR = [
  'PreloadTopChromeWebUI',
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxFullPopup',
];
/** What Playwright turns off. Chromium reads only the last such list. */
const PLAYWRIGHT = [
  ...['AimEnabled', 'AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades'],
  ...['HttpsFirstBalancedModeAutoEnable', 'LensOverlay', 'MediaRouter', 'NetworkTimeServiceQuerying'],
  ...['OptimizationHints', 'PaintHolding', 'PreconnectToSearch', 'ThirdPartyStoragePartitioning'],
  'AvoidCorsURLLoaderRestartOnRedirect',
];

/** Chromium without a display, and without anything that would make requests of its own. */
export async function launchBrowser(
  more: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<Browser> {
  return (await import('playwright-core')).chromium.launch({
    env: { ...process.env, ...env } as Record<string, string>,
    executablePath: findProgram('chromium') ?? 'chromium',
    timeout: 60_000,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--disable-features=${[...ADDRESS_BAR, ...PLAYWRIGHT].join()}`,
      ...more,
    ],
  });
}

/** The folder of the pages and of their sources. */
export const PAGES = join(__dirname, '..', '..', 'templates', 'dashboard');
/** What the build makes of the sources. */
export const ASSETS = join(__dirname, '..', '..', 'dist', 'pages');

/** What a path of the API answers; `wait` holds it back. */
export interface Answer {
  status?: number;
  body?: unknown;
  /** Sent instead of the body, as it is. */
  text?: string;
  /** The media type; JSON unless told. */
  type?: string;
  wait?: Promise<unknown>;
  /** Holds back the body, after the head was sent. */
  late?: Promise<unknown>;
}

export type Answers = Record<string, (url?: URL) => Answer>;

export interface Served {
  url: string;
  /** What was asked for so far: `GET /api/sense/today 304`. */
  asked: string[];
  /** The open streams; none are offered before `offerStream`. */
  streams: Set<{ say: (line: object) => void; end: () => void }>;
  offerStream: (version?: string) => void;
  close: () => Promise<void>;
}

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** What a page of the daemon may do. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** A server on loopback with the pages, their assets, and the given answers; `answers` may change while it runs. */
export async function servePages(answers: Answers): Promise<Served> {
  const asked: string[] = [];
  const streams: Served['streams'] = new Set();
  let version: string | undefined;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const { pathname, searchParams } = url;
    const reply = (status: number, type: string, body: string | Buffer, late?: Promise<unknown>): void => {
      const etag = `"${createHash('sha256').update(body).digest('hex').slice(0, 16)}"`;
      const isSame = status === 200 && request.headers['if-none-match'] === etag;
      asked.push(`${request.method} ${request.url} ${isSame ? 304 : status}`);
      response.writeHead(isSame ? 304 : status, {
        'Content-Type': type,
        'Content-Security-Policy': POLICY,
        'Cache-Control': 'no-cache',
        'X-Content-Type-Options': 'nosniff',
        'Cross-Origin-Resource-Policy': 'same-origin',
        ETag: etag,
        ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
      });
      response.flushHeaders();
      void Promise.resolve(late).then(() => response.end(isSame ? undefined : body));
    };
    const answer = answers[pathname]?.(url);
    // The page polls without a stream.
    if (answer === undefined && pathname === '/api/stream') {
      response.writeHead(version === undefined ? 204 : 200);
      if (version === undefined) return void response.end();
      const say = (line: object): unknown => response.write(`${JSON.stringify(line)}\n`);
      const stream = { say, end: () => response.end() };
      streams.add(stream);
      response.once('close', () => streams.delete(stream));
      return void say({ run: 'a', version, signedIn: request.headers.authorization !== undefined });
    }
    const name =
      (searchParams.has('day') ? 'index.html' : undefined) ??
      (/^\/(sense|sessions|status|work)$/.test(pathname) ? `${pathname.slice(1)}.html` : undefined) ??
      (pathname === '/' ? 'index.html' : assetName(pathname));
    if (answer !== undefined) {
      const {
        status = 200,
        body,
        text = JSON.stringify(body),
        type = 'application/json',
        wait,
        late,
      } = answer;
      void Promise.resolve(wait).then(() => reply(status, type, text, late));
    } else if (name !== undefined) {
      reply(200, TYPES[extname(name)] ?? 'text/plain', readFileSync(join(PAGES, name)));
    } else {
      reply(
        404,
        'application/json',
        JSON.stringify({ error: { kind: 'not_found', message: 'No such path.' } }),
      );
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    streams,
    offerStream: (offered = '1') => (version = offered),
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

function assetName(pathname: string): string | undefined {
  if (!/^\/assets\/[a-z-]+\.(js|css)$/.test(pathname)) return undefined;
  return basename(pathname);
}
