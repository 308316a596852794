import { expect } from 'chai';

import { findProgram } from '../../src/lib/platform/process/spawn';
import { extensionOf, pairAgain, readPairing } from '../../src/lib/sense/web-pairing';
import { testArea, type TestArea } from '../helpers/area';
import { until } from '../helpers/daemon';
import { startFirefox, type Firefox } from '../helpers/marionette';
import { requirePrograms } from '../helpers/real-part';
import { scratch } from '../helpers/scratch';
import { serveSites, tickedExtension, webDaemon, type WebDaemon } from '../helpers/web-extension';

describe('the browser extension (real Firefox)', function () {
  this.timeout(120_000);
  const files = scratch();
  let area: TestArea;
  let daemon: WebDaemon;
  let sites: Awaited<ReturnType<typeof serveSites>>;
  let firefox: Firefox | undefined;

  before(function () {
    requirePrograms(this, { 'firefox-esr': 'firefox-esr' });
  });

  beforeEach(async () => {
    area = testArea();
    daemon = webDaemon(area.area, Date.now);
    sites = await serveSites();
    tickedExtension(files.path('extension'));
    firefox = await startFirefox(findProgram('firefox-esr') ?? '', files.path('profile'));
  });

  afterEach(async () => {
    await firefox?.stop();
    await daemon.close();
    await new Promise((done) => sites.server.close(done));
    area.remove();
  });

  const send = (name: string, input: object = {}): Promise<unknown> =>
    firefox?.send(name, input) ?? Promise.reject(new Error('not started'));

  async function run(script: string, context = 'content'): Promise<unknown> {
    await send('Marionette:SetContext', { value: context });
    const { value } = (await send('WebDriver:ExecuteScript', { script, args: [] })) as { value: unknown };
    await send('Marionette:SetContext', { value: 'content' });
    return value;
  }

  it('sends the ticked site, hides others, and pairs by the code', async () => {
    const port = await daemon.listen();
    await send('Addon:Install', { path: files.path('extension'), temporary: true });
    const host = await run(
      `return WebExtensionPolicy.getByID('sites@steward-cli').mozExtensionHostname`,
      'chrome',
    );
    expect(extensionOf(`moz-extension://${String(host)}`)).to.equal('firefox');
    await send('WebDriver:Navigate', { url: `moz-extension://${String(host)}/options.html` });
    const code = `${port}-${pairAgain(area.area).token}`;
    await run(
      `document.getElementById('code').value = '${code}'; document.getElementById('pair').requestSubmit();`,
    );
    await until('the code is stored', async () =>
      String(await run(`return document.getElementById('state').textContent`)).includes('Paired'),
    );
    const open = (name: string): Promise<unknown> =>
      send('WebDriver:Navigate', { url: `http://${name}:${sites.port}/private-path?q=private-path` });
    const told = (): (string | null)[] => [...daemon.visits.values()].map(({ site }) => site);
    // Each navigation ends a visit; the first may begin before the extension sees the new page.
    await until('the ticked site is reported', async () => {
      await open('www.granted.test');
      return told().includes('granted.test');
    });
    const before = told().length;
    await until('the other site is reported', async () => {
      await open('secret-clinic.test');
      return told().slice(before).includes(null);
    });
    expect([...new Set(told())].sort()).to.deep.equal(['granted.test', null]);
    expect(readPairing(area.area)).to.have.property('firefox', `moz-extension://${String(host)}`);
    for (const secret of ['secret-clinic', 'private-path', 'www.granted'])
      expect(daemon.requests.join('\n').includes(secret), secret).to.equal(false);
  });
});
