import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { BrowserContext, Page, Worker } from 'playwright-core';

import { findProgram } from '../../src/lib/platform/process/spawn';
import type { SenseEvent } from '../../src/lib/time/event';
import { rollup } from '../../src/lib/sense/roll';
import { pairAgain } from '../../src/lib/sense/web-pairing';
import type { WebRouteDeps } from '../../src/lib/daemon/web-route';
import { until } from './daemon';
import { requirePrograms } from './real-part';
import { scratch } from './scratch';
import { senseBox, sourceOf, type SenseBox } from './sense';
import { serveSites, tickedExtension, visitsIn, webDaemon, type WebDaemon } from './web-extension';

export const MINUTE = 60_000;
export const DAY = '2026-11-20';
export const START = Date.parse(`${DAY}T10:00:00Z`);

/** What the extension keeps in memory. */
interface Stored {
  current: { site: string | null; at: number } | null;
  queue: unknown[];
  dropped: number;
  answer?: number;
}

/** The part of the browser's functions for extensions that is called here. */
declare const chrome: {
  storage: Record<
    'local' | 'session',
    { get: () => Promise<Record<string, unknown>>; set: (values: object) => Promise<void> }
  >;
  runtime: { sendMessage: (message: object) => Promise<unknown> };
};

/** A scripted hour in Chromium with the extension. Times are minutes after `START`. */
export interface ExtensionPlay {
  box: SenseBox;
  daemon: WebDaemon;
  context: BrowserContext;
  worker: Worker;
  /** The page with the options, in which the functions of the extension can be called. */
  options: Page;
  page: Page;
  port: number;
  /** Why the daemon records no sites. */
  off: Awaited<ReturnType<WebRouteDeps['whyOff']>>;
  sitesPort: number;
  setDaemonClock: (ms: number) => void;
  setClock: (minutes: number) => Promise<void>;
  /** Lets time pass, and then sets whether somebody uses the computer, as the browser tells the extension. */
  setIdle: (minutes: number, state: 'active' | 'idle' | 'locked') => Promise<void>;
  pair: () => Promise<void>;
  stored: () => Promise<Stored>;
  /** Waits until the extension has seen a site now; undefined if it sees no window or nobody. */
  seen: (site: string | null | undefined) => Promise<void>;
  /** Lets the extension look, as its alarm does each minute. */
  look: () => Promise<void>;
  /** Lets time pass, after which the extension looks again. */
  tick: (minutes: number, site: string | null | undefined) => Promise<void>;
  visitPage: (host: string) => Promise<void>;
  /** The visits that the daemon stored. */
  told: () => [site: string | null, from: number, to: number][];
  /** Stores what the extension sent, with the applications that were in front. Returns minutes by application. */
  minutesOf: (...events: SenseEvent[]) => Promise<[app: string, minutes: number][]>;
  /** What the browser stores for the extension. */
  ownFiles: () => string[];
}

/** Starts Chromium with the extension, paired, for each test of the suite that calls it. */
export function playInChromium(extensions: (folder: string) => string[] = () => []): ExtensionPlay {
  const files = scratch();
  const play = {} as ExtensionPlay;
  let nowMs = START;
  let looks = 0;
  let sites: Awaited<ReturnType<typeof serveSites>>;

  before(function () {
    requirePrograms(this, { chromium: 'chromium' });
  });

  beforeEach(async () => {
    play.box = senseBox(`${DAY}T11:30:00Z`);
    nowMs = START;
    play.daemon = webDaemon(
      play.box,
      () => nowMs,
      () => play.off,
    );
    sites = await serveSites();
    play.sitesPort = sites.port;
    play.port = await play.daemon.listen();
    await launch();
  });

  afterEach(async () => {
    await play.context?.close();
    await play.daemon.close();
    await new Promise((done) => sites.server.close(done));
    play.box.remove();
  });

  async function launch(): Promise<void> {
    const folder = files.path('extension');
    tickedExtension(folder);
    const { chromium } = await import('playwright-core');
    const folders = [folder, ...extensions(files.path('more'))].join(',');
    play.context = await chromium.launchPersistentContext(files.path('profile'), {
      executablePath: findProgram('chromium') ?? 'chromium',
      headless: true,
      args: [
        `--disable-extensions-except=${folders}`,
        `--load-extension=${folders}`,
        '--no-sandbox',
        '--disable-gpu',
        '--host-resolver-rules=MAP *.test 127.0.0.1',
      ],
    });
    const isOwn = (url: string): boolean => url.endsWith('/worker.js');
    const find = (): Worker | undefined => play.context.serviceWorkers().find((one) => isOwn(one.url()));
    await until('the worker runs', () => find() !== undefined);
    play.worker = find() as Worker;
    // The extension opens its page when it is installed.
    const url = play.worker.url().replace('worker.js', 'options.html');
    await until('the page opens', () => play.context.pages().some((one) => one.url() === url));
    play.options = play.context.pages().find((one) => one.url() === url) as Page;
    play.page = await play.context.newPage();
    await play.setClock(0);
    await play.pair();
  }

  return Object.assign(play, {
    setDaemonClock: (ms) => (nowMs = ms),
    async setClock(minutes) {
      nowMs = START + minutes * MINUTE;
      await play.options.evaluate((now) => chrome.runtime.sendMessage({ now }), nowMs);
    },
    async setIdle(minutes, state) {
      // The clock first: the browser may tell late of a window, and the extension looks then.
      await play.setClock(minutes);
      await play.options.evaluate((value) => chrome.runtime.sendMessage({ state: value }), state);
    },
    async pair() {
      const pairing = { port: play.port, token: pairAgain(play.box.area).token };
      await play.options.evaluate((value) => chrome.storage.local.set({ pairing: value }), pairing);
    },
    stored: async () =>
      (await play.options.evaluate(() => chrome.storage.session.get())) as unknown as Stored,
    async seen(site) {
      const wanted = JSON.stringify(site === undefined ? null : { at: nowMs, site });
      await until(`the extension sees ${wanted}`, async () => {
        const { current, queue } = await play.stored();
        const text = JSON.stringify(current && { at: current.at, site: current.site });
        return text === wanted && (!play.daemon.isUp() || queue.length === 0);
      });
    },
    async look() {
      looks += 1;
      await play.options.evaluate((value) => chrome.storage.local.set({ looks: value }), looks);
    },
    async tick(minutes, site) {
      await play.setClock(minutes);
      await play.look();
      await play.seen(site);
    },
    async visitPage(host) {
      await play.page.goto(`http://${host}:${play.sitesPort}/private-path?q=private-path`);
    },
    told: () => visitsIn(play.box, START),
    async minutesOf(...events) {
      const { deps, capture } = play.box;
      deps.sources = [sourceOf('appFocus', () => Promise.resolve({ events, cursor: 1, state: 'ok' }))];
      await capture();
      return rollup(deps, DAY).apps.map(({ app, minutes }) => [app, minutes]);
    },
    ownFiles() {
      const id = new URL(play.worker.url()).host;
      const profile = files.path('profile');
      const names = readdirSync(profile, { recursive: true, encoding: 'utf8' });
      const own = names.filter((name) => name.includes(id) && statSync(join(profile, name)).isFile());
      expect(own).to.not.have.length(0);
      return own.map((name) => readFileSync(join(profile, name), 'latin1'));
    },
  } satisfies Partial<ExtensionPlay>);
}
