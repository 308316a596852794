import { expect } from 'chai';

import { extensionOf, pairAgain, readPairing } from '../../src/lib/sense/web-pairing';
import { until } from '../helpers/daemon';
import { DAY, playInChromium } from '../helpers/extension-play';
import { filesIn, focus } from '../helpers/sense';

/** A site that nobody ticked, and what of a ticked one must not leave the browser. */
const SECRETS = ['secret-clinic', 'private-path', 'www.granted', 'docs.granted'];

/** The part of the browser's functions for extensions that the test calls in the extension. */
declare const chrome: {
  storage: { local: { get: () => Promise<Record<string, unknown>> } };
  windows: Record<
    'create' | 'update' | 'getLastFocused',
    (...input: unknown[]) => Promise<{ id: number } | null>
  >;
  alarms: { getAll: () => Promise<{ periodInMinutes: number }[]> };
  permissions: { request: (asked: { origins: string[] }) => Promise<boolean> };
};
declare const document: { activeElement: { value: string }; body: { dataset: Record<string, string> } };

describe('the browser extension (real Chromium)', function () {
  this.timeout(120_000);
  const play = playInChromium();
  const { setClock, setIdle, stored, seen, look, tick, visitPage, told, minutesOf } = play;

  it('records the minutes of ticked sites while a window is in front, and no trace of others', async () => {
    const { worker, options, daemon, context, box } = play;
    expect(extensionOf(worker.url().replace('/worker.js', ''))).to.equal('chromium');
    expect(await options.evaluate(() => chrome.alarms.getAll())).to.have.nested.property(
      '[0].periodInMinutes',
      1,
    );
    await visitPage('www.granted.test');
    await seen('granted.test');
    for (const minute of [1, 2, 3]) await tick(minute, 'granted.test');
    // Signs of a page that loads end no visit.
    await setClock(3.05);
    await look();
    await setClock(3.3);
    await visitPage('secret-clinic.test');
    await seen(null);
    expect(told().at(-1)).to.deep.equal(['granted.test', 3, 3.3]);
    for (const minute of [4.3, 5.3]) await tick(minute, null);
    const first = await options.evaluate(() => chrome.windows.getLastFocused());
    const url = `http://docs.granted.test:${play.sitesPort}/private-path`;
    const second = await options.evaluate((value) => chrome.windows.create({ url: value }), url);
    await seen('granted.test');
    await setClock(6.2);
    await options.evaluate((id) => chrome.windows.update(id, { state: 'minimized' }), second?.id);
    await look();
    await seen(undefined);
    await setClock(8);
    await options.evaluate((id) => chrome.windows.update(id, { state: 'minimized' }), first?.id);
    await options.evaluate((id) => chrome.windows.update(id, { state: 'normal', focused: true }), first?.id);
    await look();
    await seen(null);
    await setIdle(9, 'idle');
    await tick(9, undefined);
    await setIdle(9.5, 'active');
    for (const minute of [9.5, 10]) await tick(minute, null);
    expect(await options.evaluate(() => chrome.windows.create({ incognito: true }))).to.equal(null);
    const minutes = await minutesOf(
      focus(`${DAY}T10:06:12Z`, 'Chromium', 372),
      focus(`${DAY}T10:08:00Z`, 'Code', 108),
      focus(`${DAY}T10:10:00Z`, 'Chromium', 120),
    );
    expect(minutes).to.deep.equal([
      ['Chromium: granted.test', 4.2],
      ['Chromium: other sites', 3.5],
      ['Code', 1.8],
      ['Chromium', 0.5],
    ]);
    const local = await options.evaluate(() => chrome.storage.local.get());
    await context.close();
    const texts = [
      JSON.stringify([local, ...daemon.requests]),
      ...Object.values(filesIn(box.area.root)),
      ...play.ownFiles(),
    ];
    expect(texts.join('\n')).to.include('granted.test');
    for (const secret of SECRETS) expect(texts.join('\n').includes(secret), secret).to.equal(false);
  });

  it('sees nothing of a private window', async () => {
    await visitPage('secret-clinic.test');
    await seen(null);
    const devtools = await play.context.browser()?.newBrowserCDPSession();
    const hidden = await devtools?.send('Target.createBrowserContext');
    const browserContextId = hidden?.browserContextId ?? '';
    const url = `http://www.granted.test:${play.sitesPort}/`;
    await devtools?.send('Target.createTarget', { url, browserContextId, newWindow: true });
    await until('the private window shows the site', async () => {
      const { targetInfos = [] } = (await devtools?.send('Target.getTargets')) ?? {};
      return targetInfos.some((one) => one.url === url && one.title === `www.granted.test:${play.sitesPort}`);
    });
    await tick(1, null);
    await tick(2, null);
    expect(told()).to.deep.equal([
      [null, 0, 1],
      [null, 1, 2],
    ]);
  });

  it('keeps the visits of an hour while the daemon is down, and counts the rest', async () => {
    const { daemon, port } = play;
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
    const [before, after] = [
      focus(`${DAY}T10:12:00Z`, 'Chromium', 720),
      focus(`${DAY}T11:12:00Z`, 'Chromium', 3600),
    ];
    expect(await minutesOf(before, after)).to.deep.equal([
      ['Chromium: granted.test', 61],
      ['Chromium', 11],
    ]);
  });

  it('continues a visit after the worker was ended', async () => {
    const { context, options } = play;
    const devtools = await context.newCDPSession(options);
    await devtools.send('ServiceWorker.enable');
    async function endWorker(): Promise<void> {
      const ended = new Promise<void>((done) => {
        devtools.on('ServiceWorker.workerVersionUpdated', ({ versions }) => {
          if (versions.some(({ runningStatus }) => runningStatus === 'stopped')) done();
        });
      });
      await devtools.send('ServiceWorker.stopAllWorkers');
      await ended;
    }
    await visitPage('www.granted.test');
    await seen('granted.test');
    await tick(1, 'granted.test');
    await endWorker();
    await setClock(2.3);
    await visitPage('secret-clinic.test');
    await seen(null);
    await tick(3.2, null);
    expect(told()).to.deep.equal([
      ['granted.test', 0, 1],
      ['granted.test', 1, 2.3],
      [null, 2.3, 3.2],
    ]);
    expect(await minutesOf(focus(`${DAY}T10:04:00Z`, 'Chromium', 240))).to.deep.equal([
      ['Chromium: granted.test', 2.3],
      ['Chromium: other sites', 0.9],
      ['Chromium', 0.8],
    ]);
    await endWorker();
    await visitPage('docs.granted.test');
    await until('the next event starts it', async () => (await stored()).current?.site === 'granted.test');
  });

  it('reports no time that a change of the clock made up', async () => {
    await visitPage('www.granted.test');
    await seen('granted.test');
    for (const minute of [1.4, 500, 2, 3]) await tick(minute, 'granted.test');
    expect(told()).to.deep.equal([
      ['granted.test', 0, 1.4],
      ['granted.test', 2, 3],
    ]);
    expect(await stored()).to.include({ dropped: 0 });
    expect(await minutesOf(focus(`${DAY}T10:03:00Z`, 'Chromium', 180))).to.deep.equal([
      ['Chromium: granted.test', 2.4],
      ['Chromium', 0.6],
    ]);
  });

  it('sends nothing without the code, and drops what is refused', async () => {
    pairAgain(play.box.area);
    await visitPage('www.granted.test');
    await seen('granted.test');
    await tick(1, 'granted.test');
    await until('the code is refused', async () => (await stored()).answer === 401);
    // After sleep there is nothing to send, and the answer of before still counts.
    for (const minute of [10, 20]) await tick(minute, 'granted.test');
    expect(await stored()).to.deep.include({ dropped: 1, queue: [], answer: 401 });
    await play.pair();
    await tick(21, 'granted.test');
    expect(told()).to.deep.equal([['granted.test', 20, 21]]);
  });

  it('says what goes where, and takes the code and names of sites', async () => {
    const { options, port } = play;
    await options.bringToFront();
    expect(await options.innerText('main')).to.include('to steward on this computer and nowhere');
    expect(await options.getByLabel('granted.test').isChecked()).to.equal(true);
    expect(await options.getByLabel('github.com').isChecked()).to.equal(false);
    await options.fill('#code', 'abc');
    await options.click('#pair button');
    expect(await options.textContent('#state')).to.include('not a pairing code');
    const { token } = pairAgain(play.box.area);
    const enter = async (code: string, answer: string): Promise<void> => {
      await options.fill('#code', code);
      await options.click('#pair button');
      await options.getByText(answer).waitFor();
    };
    await enter(
      `${port}-${'x'.repeat(32)}`,
      'Not recorded with the code that ends in xxxx: The pairing code',
    );
    expect(await options.textContent('#state')).to.include('steward sense web install');
    await enter(`${play.sitesPort}-${token}`, `steward does not answer on port ${play.sitesPort}`);
    expect(readPairing(play.box.area)).to.deep.equal({ token });
    await enter(` ${port}-${token}\n`, `Paired: steward accepted the code that ends in ${token.slice(-4)}.`);
    expect(readPairing(play.box.area)).to.have.property('chromium');
    play.off = { found: 'sense.enabled is false', fix: 'steward config set sense.enabled true' };
    await tick(1, null);
    await options.getByText('steward config set sense.enabled true').waitFor();
    expect(await options.textContent('#state')).to.include('Visits that were dropped: 1.');
    play.off = undefined;
    await tick(2, null);
    await options.getByText('Paired: steward accepted').waitFor();
    expect(told()).to.deep.equal([[null, 1, 2]]);
    // The page asks at once when it opens, although the code was accepted before.
    await play.daemon.close();
    await options.reload();
    await options.getByText(`steward does not answer on port ${port}`).waitFor();
    expect(await options.textContent('#state')).to.include('Start it with “steward up”.');
    await play.daemon.listen(port);
    await options.reload();
    await options.getByText('Paired: steward accepted').waitFor();
    await options.evaluate(() => {
      chrome.permissions.request = ({ origins }) => {
        document.body.dataset['asked'] = origins.join(' ');
        return Promise.resolve(true);
      };
    });
    // Without the permission the box is empty again, and the keyboard still there.
    const box = options.getByLabel('docs.rs');
    await box.focus();
    await options.keyboard.press('Space');
    await until('the list is shown again', async () => !(await box.isChecked()));
    expect(await options.evaluate(() => document.activeElement.value)).to.equal('docs.rs');
    await options.evaluate(() => delete document.body.dataset['asked']);
    const add = async (text: string): Promise<[asked: string | null, problem: string | null]> => {
      await options.fill('#name', text);
      await options.click('#add button');
      const asked = await options.getAttribute('body', 'data-asked');
      await options.evaluate(() => delete document.body.dataset['asked']);
      return [asked, await options.textContent('#problem')];
    };
    for (const text of ['localhost', 'intranet', '127.0.0.1', 'a b.org', 'x.y', '*.docs.rs', 'http://[::1]/'])
      expect(await add(text), text).to.deep.equal([
        null,
        `“${text}” is not the name of a site. Enter a name such as example.org.`,
      ]);
    for (const text of [' Docs.RS', 'https://docs.rs/serde?q=1#x', 'docs.rs/serde'])
      expect(await add(text), text).to.deep.equal(['https://docs.rs/* https://*.docs.rs/*', '']);
  });
});
