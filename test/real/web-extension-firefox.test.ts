import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

import { findProgram } from '../../src/lib/platform/process/spawn';
import { rollup } from '../../src/lib/sense/roll';
import { extensionOf, pairAgain, readPairing } from '../../src/lib/sense/web-pairing';
import { until } from '../helpers/daemon';
import { startFirefox, type Firefox } from '../helpers/marionette';
import { requirePrograms } from '../helpers/real-part';
import { scratch } from '../helpers/scratch';
import { filesIn, focus, senseBox, sourceOf, type SenseBox } from '../helpers/sense';
import {
  addStrings,
  serveSites,
  tickedExtension,
  visitsIn,
  webDaemon,
  type WebDaemon,
} from '../helpers/web-extension';

const MINUTE = 60_000;
const DAY = '2026-11-20';
const START = Date.parse(`${DAY}T10:00:00Z`);
const ID = 'sites@steward-cli';
const SECRETS = ['secret-clinic', 'private-path', 'www.granted', 'docs.granted'];

/** What the extension keeps in memory. */
interface Stored {
  current?: { site: string | null; at: number } | null;
  queue?: unknown[];
  answer?: number;
}

describe('the browser extension (real Firefox)', function () {
  this.timeout(120_000);
  const files = scratch();
  let box: SenseBox;
  let daemon: WebDaemon;
  let sites: Awaited<ReturnType<typeof serveSites>>;
  let firefox: Firefox | undefined;
  let nowMs: number;
  let port: number;
  /** The tabs with the options and with the sites. */
  let options: string;
  let page: string;

  before(function () {
    requirePrograms(this, { 'firefox-esr': 'firefox-esr' });
  });

  beforeEach(async () => {
    box = senseBox(`${DAY}T11:30:00Z`);
    nowMs = START;
    daemon = webDaemon(box, () => nowMs);
    port = await daemon.listen();
    sites = await serveSites();
    tickedExtension(files.path('extension'));
    addStrings(files.path('extension'));
    firefox = await startFirefox(findProgram('firefox-esr') ?? '', files.path('profile'));
    await send('Addon:Install', { path: files.path('extension'), temporary: true });
    // The extension opens its page when it is installed.
    await until('the page opens', async () => (await findOptions()) !== undefined);
    options = (await findOptions()) ?? '';
    page = await newWindow('tab');
    await setClock(0);
    await pair(pairAgain(box.area).token);
  });

  afterEach(async () => {
    await firefox?.stop();
    await daemon.close();
    await new Promise((done) => sites.server.close(done));
    box.remove();
  });

  const send = (name: string, input: object = {}): Promise<unknown> =>
    firefox?.send(name, input) ?? Promise.reject(new Error('not started'));

  async function run(script: string, context = 'content'): Promise<unknown> {
    await send('Marionette:SetContext', { value: context });
    const { value } = (await send('WebDriver:ExecuteScript', { script, args: [] })) as { value: unknown };
    await send('Marionette:SetContext', { value: 'content' });
    return value;
  }

  const goTo = (handle: string, isFocused = false): Promise<unknown> =>
    send('WebDriver:SwitchToWindow', { handle, focus: isFocused });

  async function newWindow(type: 'tab' | 'window'): Promise<string> {
    const { handle } = (await send('WebDriver:NewWindow', { type, focus: true })) as { handle: string };
    return handle;
  }

  async function findOptions(): Promise<string | undefined> {
    for (const handle of (await send('WebDriver:GetWindowHandles')) as string[]) {
      await goTo(handle);
      const { value } = (await send('WebDriver:GetCurrentURL')) as { value: string };
      if (value.endsWith('/options.html')) return handle;
    }
    return undefined;
  }

  /** Asks the extension for what it stores, after it did something. */
  async function ask(
    input: { now?: number; looks?: number; state?: string } = {},
  ): Promise<[Stored, object]> {
    await goTo(options);
    const text = JSON.stringify(JSON.stringify(input));
    const told = `document.body.dataset.told`;
    await run(
      `delete ${told}; document.body.dataset.ask = ${text}; document.dispatchEvent(new Event('ask'));`,
    );
    let answer: unknown;
    await until('the extension answers', async () => (answer = await run(`return ${told}`)) !== null);
    return JSON.parse(String(answer)) as [Stored, object];
  }

  async function setClock(minutes: number): Promise<void> {
    nowMs = START + minutes * MINUTE;
    await ask({ now: nowMs });
  }

  async function pair(token: string): Promise<void> {
    await goTo(options);
    await run(
      `document.getElementById('code').value = '${port}-${token}'; document.getElementById('pair').requestSubmit();`,
    );
    await until('the code is stored', async () =>
      String(await run(`return document.getElementById('state').textContent`)).includes(token.slice(-4)),
    );
  }

  async function seen(site: string | null | undefined): Promise<void> {
    const wanted = JSON.stringify(site === undefined ? null : { at: nowMs, site });
    await until(`the extension sees ${wanted}`, async () => {
      const [{ current = null, queue = [] }] = await ask();
      const text = JSON.stringify(current && { at: current.at, site: current.site });
      return text === wanted && (!daemon.isUp() || queue.length === 0);
    });
  }

  let looks = 0;

  async function tick(minutes: number, site: string | null | undefined): Promise<void> {
    await setClock(minutes);
    await ask({ looks: (looks += 1) });
    await seen(site);
  }

  async function visitPage(host: string, handle = page): Promise<void> {
    await goTo(handle, true);
    await send('WebDriver:Navigate', {
      url: `http://${host}:${sites.port}/private-path?q=private-path`,
    });
  }

  const told = (): unknown[] => visitsIn(box, START);

  async function minutesOf(...events: ReturnType<typeof focus>[]): Promise<unknown[]> {
    box.deps.sources = [sourceOf('appFocus', () => Promise.resolve({ events, cursor: 1, state: 'ok' }))];
    await box.capture();
    return rollup(box.deps, DAY).apps.map(({ app, minutes }) => [app, minutes]);
  }

  /** Opens a ticked site in a private window. */
  async function openPrivate(): Promise<void> {
    const url = `http://www.granted.test:${sites.port}/`;
    await run(`OpenBrowserWindow({ private: true })`, 'chrome');
    const hidden = `[...Services.wm.getEnumerator('navigator:browser')].find(
      (one) => PrivateBrowsingUtils.isWindowPrivate(one) && one.gBrowser)`;
    // Its own first page would replace the site.
    const opened = `return ${hidden}?.gBrowser.currentURI.spec === 'about:privatebrowsing'`;
    await until('it opens', async () => (await run(opened, 'chrome')) === true);
    const principal = 'Services.scriptSecurityManager.getSystemPrincipal()';
    await run(
      `${hidden}.gBrowser.fixupAndLoadURIString('${url}', { triggeringPrincipal: ${principal} })`,
      'chrome',
    );
    await until('it shows the site', async () =>
      String(await run(`return ${hidden}.gBrowser.contentTitle`, 'chrome')).includes('granted'),
    );
  }

  /** Returns what the browser stores for the extension. */
  function ownFiles(host: string): string[] {
    const profile = files.path('profile');
    const names = readdirSync(profile, { recursive: true, encoding: 'utf8' });
    const own = names.filter((name) => name.includes(host) || name.includes(ID));
    return own
      .filter((name) => statSync(join(profile, name)).isFile())
      .map((name) => readFileSync(join(profile, name), 'latin1'));
  }

  it('records the minutes of ticked sites while a window is in front, and no trace of others', async () => {
    const host = String(
      await run(`return WebExtensionPolicy.getByID('${ID}').mozExtensionHostname`, 'chrome'),
    );
    expect(extensionOf(`moz-extension://${host}`)).to.equal('firefox');
    await visitPage('www.granted.test');
    await seen('granted.test');
    for (const minute of [1, 2]) await tick(minute, 'granted.test');
    await setClock(2.3);
    await visitPage('secret-clinic.test');
    await seen(null);
    await tick(3.3, null);
    const second = await newWindow('window');
    await visitPage('docs.granted.test', second);
    await seen('granted.test');
    await setClock(4.2);
    await goTo(page, true);
    await seen(null);
    await tick(5, null);
    await ask({ state: 'idle' });
    await tick(5.5, undefined);
    await ask({ state: 'active' });
    await tick(6, null);
    await goTo(page);
    await send('WebDriver:MinimizeWindow');
    await tick(6.2, undefined);
    await openPrivate();
    for (const minute of [6.5, 7]) await tick(minute, undefined);
    const [, local] = await ask();
    const events = [focus(`${DAY}T10:07:00Z`, 'Firefox', 420), focus(`${DAY}T10:08:00Z`, 'Code', 60)];
    expect(await minutesOf(...events)).to.deep.equal([
      ['Firefox: granted.test', 3.2],
      ['Firefox: other sites', 2.5],
      ['Firefox', 1.3],
      ['Code', 1],
    ]);
    expect(readPairing(box.area)).to.have.property('firefox', `moz-extension://${host}`);
    await firefox?.stop();
    const own = ownFiles(host);
    expect(own).to.not.have.length(0);
    const texts = [
      JSON.stringify([local, ...daemon.requests]),
      ...Object.values(filesIn(box.area.root)),
      ...own,
    ];
    expect(texts.join('\n')).to.include('granted.test');
    for (const secret of SECRETS) expect(texts.join('\n').includes(secret), secret).to.equal(false);
  });

  it('keeps what the daemon could not take, also when its page is ended, and stops without the code', async () => {
    await visitPage('www.granted.test');
    await seen('granted.test');
    await daemon.close();
    await tick(1, 'granted.test');
    await run(
      `WebExtensionPolicy.getByID('${ID}').extension.terminateBackground({ ignoreDevToolsAttached: true });`,
      'chrome',
    );
    await tick(2, 'granted.test');
    await daemon.listen(port);
    for (const minute of [3, 500, 4, 5]) await tick(minute, 'granted.test');
    const known = [0, 1, 2, 4].map((minute) => ['granted.test', minute, minute + 1]);
    expect(told()).to.deep.equal(known);
    const { token } = pairAgain(box.area);
    await tick(6, 'granted.test');
    expect((await ask())[0]).to.have.property('answer', 401);
    expect(told()).to.deep.equal(known);
    await pair(token);
    await tick(7, 'granted.test');
    expect(told()).to.deep.equal([...known, ['granted.test', 6, 7]]);
    // Firefox forgets a temporary extension; loaded again, it has another origin, and takes the same code.
    const host = (): Promise<unknown> =>
      run(`return WebExtensionPolicy.getByID('${ID}').mozExtensionHostname`, 'chrome');
    const before = await host();
    await goTo(page);
    await send('Addon:Uninstall', { id: ID });
    await send('Addon:Install', { path: files.path('extension'), temporary: true });
    await until('the page opens', async () => (await findOptions()) !== undefined);
    options = (await findOptions()) ?? '';
    expect(await host()).to.not.equal(before);
    await setClock(8);
    await pair(token);
    await until('the code is accepted', async () => (await ask())[0].answer === 202);
    await visitPage('www.granted.test');
    await tick(9, 'granted.test');
    await tick(10, 'granted.test');
    expect(told().at(-1)).to.deep.equal(['granted.test', 9, 10]);
  });
});
