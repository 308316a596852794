import { expect } from 'chai';
import type { Browser } from 'playwright-core';

import { launchBrowser } from '../helpers/browser';
import { emptyHome, steward } from '../helpers/cli';
import { startDaemon, until, type RunningDaemon } from '../helpers/daemon';
import { openPage, textOf, waitForText } from '../helpers/dashboard';
import { hookJson } from '../helpers/hooks';
import { requirePrograms } from '../helpers/real-part';
import { captureNow } from '../helpers/sense';

const NOT_SIGNED_IN = 'Titles and branches are not shown. Run steward opencopy to see them.';

describe('the pages as the built daemon serves them', function () {
  this.timeout(180_000);
  let browser: Browser;
  let home: ReturnType<typeof emptyHome>;
  let daemon: RunningDaemon;

  before(async function () {
    requirePrograms(this, { chromium: 'chromium' });
    home = emptyHome();
    const captured = await steward(['sense', 'capture'], { home: home.path });
    expect(captured.code, captured.stderr).to.equal(0);
    daemon = await startDaemon({ home: home.path });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await daemon?.stop();
    home?.remove();
  });

  it('/sense shows its answers, within its policy', async () => {
    const one = await openPage(browser, `${daemon.url}/sense`, { now: null });
    await waitForText(one.page, '#facts', /^Nothing recorded yet/);
    await waitForText(one.page, '#empty', /steward up/);
    expect(one.console.filter((text) => /policy|refused|error:/i.test(text))).to.deep.equal([]);
    expect(
      one.requests.filter((url) => !url.startsWith(`${daemon.url}/`) && !url.startsWith('data:')),
    ).to.deep.equal([]);
    await one.close();
  });

  it('/ shows the day after at most twelve requests', async () => {
    const one = await openPage(browser, `${daemon.url}/`, { now: null });
    await waitForText(one.page, '#facts', /^0 m tracked so far.*0 commits$/);
    // What is below the fold is asked for last.
    await until('the last request', () => one.requests.some((url) => url.includes('/api/sense/insight')));
    const asked = one.requests.filter((url) => url.startsWith(daemon.url));
    expect(new Set(asked).size, asked.join('\n')).to.be.at.most(12);
    expect(await textOf(one.page, '#notes')).to.equal(NOT_SIGNED_IN);
    expect(one.console).to.deep.equal([]);
    await one.close();
  });

  it('shows a waiting session within two seconds of its hook, by the stream', async () => {
    const one = await openPage(browser, `${daemon.url}/`, { now: null });
    await waitForText(one.page, '#link', /^● live$/);
    await until(
      'the first ETags',
      () => one.requests.filter((url) => url.endsWith('/api/status')).length > 1,
    );
    const hook = (event: 'session-start' | 'stop') =>
      steward(['hook', event, '--no-tab'], {
        home: home.path,
        input: hookJson(event, { cwd: home.path }),
      });
    expect((await hook('session-start')).code).to.equal(0);
    expect((await hook('stop')).code).to.equal(0);
    await waitForText(one.page, '#waiting-list', /turn finished/);
    expect(await one.page.title()).to.equal('(1) Today · steward');
    await one.close();
  });

  it('a page that is signed in reclassifies an application, and shows the rebuilt record', async () => {
    const own = emptyHome();
    const day = captureNow(own.path, 'Sketchpad');
    const running = await startDaemon({ home: own.path });
    const { stdout } = await steward(['open', '--print'], { home: own.path });
    const one = await openPage(browser, stdout.trim().replace('/#', `/sense?day=${day}#`), { now: null });
    await one.page.locator('select[data-app=Sketchpad]').selectOption('creation');
    await waitForText(one.page, '#classified', /^Sketchpad is now creation\./);
    await one.page.locator('select[data-app=Sketchpad][data-kind=creation]').waitFor();
    await waitForText(one.page, '#facts', /2 m creation/);
    await one.close();
    await running.stop();
    own.remove();
  });

  it('/status shows what runs, and the process that says so', async () => {
    const one = await openPage(browser, `${daemon.url}/status`, { now: null });
    await waitForText(one.page, '#engine', new RegExp(`process ${daemon.pid}`));
    await waitForText(one.page, '#parts', /Assistant hooks/);
    await waitForText(one.page, '#jobs', /Capture.*every 2 min/);
    await waitForText(one.page, '#history', /^No notifications yet\.$/);
    expect(await textOf(one.page, '#notes')).to.equal(NOT_SIGNED_IN);
    expect(one.console).to.deep.equal([]);
    await one.close();
  });

  it('every asset that a page names is in the package, and all are 150 kB at most', async () => {
    const sizes = new Map<string, number>();
    const read = async (path: string): Promise<string> => {
      const response = await fetch(`${daemon.url}${path}`);
      expect(response.status, path).to.equal(200);
      const text = await response.text();
      sizes.set(path, Buffer.byteLength(text));
      return text;
    };
    for (const path of ['/', '/sense', '/sessions', '/status', '/work']) {
      const html = await read(path);
      const assets = [...html.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, asset]) => asset!);
      expect(assets).to.have.length(path === '/work' ? 3 : 2);
      for (const asset of assets) await read(asset);
    }
    expect([...sizes.values()].reduce((sum, size) => sum + size)).to.be.at.most(150_000);
  });
});
