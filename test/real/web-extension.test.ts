import { expect } from 'chai';

import { extensionOf, pairAgain } from '../../src/lib/sense/web-pairing';
import { until } from '../helpers/daemon';
import { DAY, MINUTE, START, playInChromium } from '../helpers/extension-play';
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
};

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
    await setClock(3.3);
    await visitPage('secret-clinic.test');
    await seen(null);
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
    await setIdle('idle');
    await tick(9, undefined);
    await setIdle('active');
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
    const { context, options, daemon } = play;
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
    const nowMs = Date.now() + MINUTE;
    play.setDaemonClock(nowMs);
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

  it('says what goes where, and takes the code', async () => {
    const { options, port } = play;
    await options.bringToFront();
    expect(await options.innerText('main')).to.include('to steward on this computer and nowhere');
    expect(await options.getByLabel('granted.test').isChecked()).to.equal(true);
    expect(await options.getByLabel('github.com').isChecked()).to.equal(false);
    await options.fill('#code', 'abc');
    await options.click('#pair button');
    expect(await options.textContent('#state')).to.include('not a pairing code');
    const { token } = pairAgain(play.box.area);
    await options.fill('#code', ` ${port}-${token}\n`);
    await options.click('#pair button');
    await until('the code is stored', async () =>
      JSON.stringify(await options.evaluate(() => chrome.storage.local.get())).includes(token),
    );
    await tick(1, null);
    await options.getByText('The last visit reached steward').waitFor();
    expect(await options.textContent('#state')).to.include(`the code that ends in ${token.slice(-4)}`);
  });
});
