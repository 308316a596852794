import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { BrowserContext, Page, Worker } from 'playwright-core';

import { findProgram } from '../../src/lib/platform/process/spawn';
import { rollup } from '../../src/lib/sense/roll';
import { webSource } from '../../src/lib/sense/web';
import { extensionOf, pairAgain } from '../../src/lib/sense/web-pairing';
import { until } from '../helpers/daemon';
import { requirePrograms } from '../helpers/real-part';
import { scratch } from '../helpers/scratch';
import { filesIn, focus, senseBox, sourceOf, type SenseBox } from '../helpers/sense';
import { serveSites, tickedExtension, webDaemon, type WebDaemon } from '../helpers/web-extension';

const MINUTE = 60_000;
const DAY = '2026-11-20';
const START = Date.parse(`${DAY}T10:00:00Z`);
/** A site that nobody ticked, and what of a ticked one must not leave the browser. */
const SECRETS = ['secret-clinic', 'private-path', 'www.granted', 'docs.granted'];

interface Stored {
  current: { site: string | null; at: number } | null;
  queue: unknown[];
  dropped: number;
  answer?: number;
}

/** The part of the browser's functions for extensions that the test calls in the extension. */
declare const chrome: {
  storage: Record<
    'local' | 'session',
    { get: () => Promise<Record<string, unknown>>; set: (values: object) => Promise<void> }
  >;
  windows: Record<
    'create' | 'update' | 'getLastFocused',
    (...input: unknown[]) => Promise<{ id: number } | null>
  >;
  alarms: { getAll: () => Promise<{ periodInMinutes: number }[]> };
};

describe('the browser extension (real Chromium)', function () {
  this.timeout(120_000);
  const files = scratch();
  let box: SenseBox;
  let daemon: WebDaemon;
  let sites: Awaited<ReturnType<typeof serveSites>>;
  let port: number;
  let nowMs: number;
  let context: BrowserContext;
  let worker: Worker;
  /** The page with the options, in which the functions of the extension can be called. */
  let options: Page;
  let page: Page;

  before(function () {
    requirePrograms(this, { chromium: 'chromium' });
  });

  beforeEach(async () => {
    box = senseBox(`${DAY}T10:30:00Z`);
    nowMs = START;
    daemon = webDaemon(box.area, () => nowMs);
    sites = await serveSites();
    port = await daemon.listen();
    await launch();
  });

  afterEach(async () => {
    await context?.close();
    await daemon.close();
    await new Promise((done) => sites.server.close(done));
    box.remove();
  });

  /** Starts Chromium with the extension. */
  async function launch(): Promise<void> {
    const folder = files.path('extension');
    tickedExtension(folder);
    const { chromium } = await import('playwright-core');
    context = await chromium.launchPersistentContext(files.path('profile'), {
      executablePath: findProgram('chromium') ?? 'chromium',
      headless: true,
      args: [
        `--disable-extensions-except=${folder}`,
        `--load-extension=${folder}`,
        '--no-sandbox',
        '--disable-gpu',
        '--host-resolver-rules=MAP *.test 127.0.0.1',
      ],
    });
    worker = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'));
    options = await context.newPage();
    await options.goto(worker.url().replace('worker.js', 'options.html'));
    page = await context.newPage();
    await setClock(0);
    await pair();
  }

  /** Sets the clock of the daemon and of the extension to minutes after the start. */
  async function setClock(minutes: number): Promise<void> {
    nowMs = START + minutes * MINUTE;
    await worker.evaluate((now) => {
      Date.now = () => now;
    }, nowMs);
  }

  async function pair(): Promise<void> {
    const pairing = { port, token: pairAgain(box.area).token };
    await options.evaluate((value) => chrome.storage.local.set({ pairing: value }), pairing);
  }

  async function stored(): Promise<Stored> {
    return (await options.evaluate(() => chrome.storage.session.get())) as unknown as Stored;
  }

  /** Waits until the extension has seen a site at this time; undefined if it sees no window. */
  async function seen(site: string | null | undefined): Promise<void> {
    const wanted = JSON.stringify(site === undefined ? null : { at: nowMs, site });
    await until(`the extension sees ${wanted}`, async () => {
      const { current, queue } = await stored();
      const text = JSON.stringify(current && { at: current.at, site: current.site });
      return text === wanted && (!daemon.isUp() || queue.length === 0);
    });
  }

  let looks = 0;

  /** Lets the extension look, as its alarm does each minute. */
  async function look(): Promise<void> {
    looks += 1;
    await options.evaluate((value) => chrome.storage.local.set({ looks: value }), looks);
  }

  /** Lets a minute pass, after which the extension looks again. */
  async function tick(minutes: number, site: string | null): Promise<void> {
    await setClock(minutes);
    await look();
    await seen(site);
  }

  async function visitPage(host: string): Promise<void> {
    await page.goto(`http://${host}:${sites.port}/private-path?q=private-path`);
  }

  const told = (): unknown[] =>
    [...daemon.visits.values()].map(({ site, at, until: end }) => [
      site,
      (at - START) / MINUTE,
      (end - START) / MINUTE,
    ]);

  /** Stores what the extension sent, with the applications that were in front. */
  async function recordOf(...events: ReturnType<typeof focus>[]) {
    box.deps.sources = [
      sourceOf('appFocus', () => Promise.resolve({ events, cursor: 1, state: 'ok' })),
      webSource({ machineId: '' }, () => true, daemon.visits),
    ];
    await box.capture();
    return rollup(box.deps, DAY);
  }

  it('records the minutes of ticked sites while a window is in front, and no trace of others', async () => {
    expect(extensionOf(worker.url().replace('/worker.js', ''))).to.equal('chromium');
    expect(await options.evaluate(() => chrome.alarms.getAll())).to.have.nested.property(
      '[0].periodInMinutes',
      1,
    );
    await visitPage('www.granted.test');
    await seen('granted.test');
    for (const minute of [1, 2, 3]) await tick(minute, 'granted.test');
    await visitPage('secret-clinic.test');
    await seen(null);
    for (const minute of [4, 5]) await tick(minute, null);
    const first = await options.evaluate(() => chrome.windows.getLastFocused());
    const url = `http://docs.granted.test:${sites.port}/private-path`;
    const second = await options.evaluate((value) => chrome.windows.create({ url: value }), url);
    await seen('granted.test');
    await setClock(6);
    await options.evaluate((id) => chrome.windows.update(id, { state: 'minimized' }), second?.id);
    await look();
    await seen(undefined);
    await setClock(8);
    await options.evaluate((id) => chrome.windows.update(id, { state: 'minimized' }), first?.id);
    await options.evaluate((id) => chrome.windows.update(id, { state: 'normal', focused: true }), first?.id);
    await look();
    await seen(null);
    await tick(9, null);
    expect(await options.evaluate(() => chrome.windows.create({ incognito: true }))).to.equal(null);
    const record = await recordOf(
      focus(`${DAY}T10:06:00Z`, 'Chromium', 360),
      focus(`${DAY}T10:08:00Z`, 'Code', 120),
      focus(`${DAY}T10:10:00Z`, 'Chromium', 120),
    );
    expect(record.apps.map(({ app, minutes }) => [app, minutes])).to.deep.equal([
      ['Chromium: granted.test', 4],
      ['Chromium: other sites', 3],
      ['Code', 2],
      ['Chromium', 1],
    ]);
    const local = await options.evaluate(() => chrome.storage.local.get());
    const id = new URL(worker.url()).host;
    await context.close();
    const texts = [
      JSON.stringify([local, ...daemon.requests]),
      ...Object.values(filesIn(box.area.root)),
      ...ownFiles(id),
    ];
    expect(texts.join('\n')).to.include('granted.test');
    for (const secret of SECRETS) expect(texts.join('\n').includes(secret), secret).to.equal(false);
  });

  /** Returns what the browser stores for the extension. */
  function ownFiles(id: string): string[] {
    const profile = files.path('profile');
    const names = readdirSync(profile, { recursive: true, encoding: 'utf8' });
    const own = names.filter((name) => name.includes(id) && statSync(join(profile, name)).isFile());
    expect(own).to.not.have.length(0);
    return own.map((name) => readFileSync(join(profile, name), 'latin1'));
  }

  it('keeps the visits of an hour while the daemon is down, and counts the rest', async () => {
    await visitPage('www.granted.test');
    await seen('granted.test');
    await tick(1, 'granted.test');
    await daemon.close();
    for (let minute = 2; minute <= 71; minute += 1) await tick(minute, 'granted.test');
    await until('the last visit is kept', async () => (await stored()).answer === 0);
    expect(await stored())
      .to.include({ dropped: 10 })
      .and.have.property('queue')
      .with.length(60);
    await daemon.listen(port);
    await tick(72, 'granted.test');
    const minutes = [0, ...Array.from({ length: 60 }, (_, i) => i + 12)];
    expect(told()).to.deep.equal(minutes.map((minute) => ['granted.test', minute, minute + 1]));
  });

  it('continues a visit after the worker was ended', async () => {
    await visitPage('www.granted.test');
    await seen('granted.test');
    const at = Date.now() - MINUTE / 2;
    await setClock((at - START) / MINUTE);
    await look();
    await seen('granted.test');
    const devtools = await context.newCDPSession(options);
    const ended = new Promise<void>((done) => {
      devtools.on('ServiceWorker.workerVersionUpdated', ({ versions }) => {
        if (versions.some(({ runningStatus }) => runningStatus === 'stopped')) done();
      });
    });
    await devtools.send('ServiceWorker.enable');
    await devtools.send('ServiceWorker.stopAllWorkers');
    await ended;
    nowMs = Date.now() + MINUTE;
    await visitPage('secret-clinic.test');
    await until('the visit has ended', () => daemon.visits.size > 0);
    const [visit] = daemon.visits.values();
    expect(visit).to.include({ site: 'granted.test', at });
    expect(visit?.until)
      .to.be.greaterThan(at + MINUTE / 2 - 1)
      .and.lessThan(nowMs);
  });

  it('reports no time that a change of the clock made up', async () => {
    await visitPage('www.granted.test');
    await seen('granted.test');
    for (const minute of [1, 500, 2, 3]) await tick(minute, 'granted.test');
    expect(told()).to.deep.equal([
      ['granted.test', 0, 1],
      ['granted.test', 2, 3],
    ]);
    expect(await stored()).to.include({ dropped: 0 });
  });

  it('sends nothing without the code, and drops what is refused', async () => {
    pairAgain(box.area);
    await visitPage('www.granted.test');
    await seen('granted.test');
    await tick(1, 'granted.test');
    await until('the code is refused', async () => (await stored()).answer === 401);
    // After sleep there is nothing to send, and the answer of before still counts.
    for (const minute of [10, 20]) await tick(minute, 'granted.test');
    expect(await stored()).to.deep.include({ dropped: 1, queue: [], answer: 401 });
    await pair();
    await tick(21, 'granted.test');
    expect(told()).to.deep.equal([['granted.test', 20, 21]]);
  });

  it('is the only one that the daemon answers: pages are refused', async () => {
    await visitPage('www.granted.test');
    for (const mode of ['cors', 'no-cors'] as const) {
      const request = {
        mode,
        url: `http://127.0.0.1:${port}/api/sense/web`,
        token: pairAgain(box.area).token,
      };
      await page.evaluate(async ({ mode: how, url, token }) => {
        const body = JSON.stringify({ site: 'granted.test', at: Date.now() - 1000, until: Date.now() });
        const headers =
          how === 'cors' ? { authorization: `Bearer ${token}`, 'content-type': 'application/json' } : {};
        await fetch(url, { method: 'POST', mode: how, headers, body }).catch(() => undefined);
      }, request);
    }
    expect(told()).to.deep.equal([]);
  });

  it('says what goes where, and takes the code', async () => {
    await options.bringToFront();
    expect(await options.innerText('main')).to.include('to steward on this computer and nowhere');
    expect(await options.getByLabel('granted.test').isChecked()).to.equal(true);
    expect(await options.getByLabel('github.com').isChecked()).to.equal(false);
    await options.fill('#code', 'abc');
    await options.click('#pair button');
    expect(await options.textContent('#state')).to.include('not a pairing code');
    const { token } = pairAgain(box.area);
    await options.fill('#code', ` ${port}-${token}\n`);
    await options.click('#pair button');
    await until('the code is stored', async () =>
      JSON.stringify(await options.evaluate(() => chrome.storage.local.get())).includes(token),
    );
    await tick(1, null);
    await options.getByText('The last visit reached steward').waitFor();
  });
});
