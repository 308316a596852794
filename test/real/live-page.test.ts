import { expect } from 'chai';
import type { Page } from 'playwright-core';

import type { SessionsReport } from '../../src/lib/sessions/rows';
import type { Answers, Served } from '../helpers/browser';
import { until } from '../helpers/daemon';
import {
  COUNT_LINES,
  senseAnswers,
  sessionRow,
  textOf,
  until as untilInPage,
  waitForText,
} from '../helpers/dashboard';
import { pagesInChromium } from '../helpers/pages';

const ALL = ['day', 'inbox', 'sense/insight', 'sense/recent', 'sessions', 'status', 'usage', 'work'];

describe('a page that follows the stream, in Chromium', function () {
  this.timeout(120_000);
  const pages = pagesInChromium();
  let answers: Answers;
  let served: Served;
  beforeEach(async () => {
    answers = senseAnswers(pages.full);
    served = await pages.serve(answers);
    served.offerStream();
  });

  async function open(now?: string): Promise<Page> {
    const one = await pages.open(`${served.url}/`, now === undefined ? {} : { now });
    await waitForText(one.page, '#link', /^● live$/);
    await until('every document', () => new Set(askedFor()).size === ALL.length && one.unanswered.size === 0);
    return one.page;
  }

  function setWaiting(task: string): void {
    const report = answers['/api/sessions']!().body as SessionsReport;
    const row = sessionRow({ slug: task, task, status: 'waiting', waitingFor: 'asks to run Bash', waitingSince: '2026-11-20T17:40:00Z' }); // prettier-ignore
    const body = { ...report, sessions: [row], waiting: 1 };
    answers['/api/sessions'] = () => ({ body });
  }

  /** The documents that were asked for, in order of their names. */
  function askedFor(): string[] {
    const asked = served.asked.filter((line) => line.includes('/api/'));
    return asked.map((line) => /\/api\/([\w/]+)/.exec(line)![1]!).sort();
  }

  /** Takes the network away, and stops the page's time once it shows that. */
  async function loseDaemon(page: Page): Promise<void> {
    await page.context().setOffline(true);
    for (const stream of served.streams) stream.end();
    await waitForText(page, '#link', /^▲ Not connected/);
    await page.clock.pauseAt(Number(await page.evaluate('Date.now()')) + 10_000);
  }

  function refuseAll(): void {
    const body = { error: { kind: 'auth', message: 'The token is missing.' } };
    const others = ['/api/stream', '/api/notify', '/api/work/status', '/api/sense/sessions'];
    for (const name of [...Object.keys(answers), ...others]) answers[name] = () => ({ status: 401, body });
  }

  /** Waits until the page asks for a sign-in. Returns how much of the page's time that took, in ms. */
  async function untilSignIn(page: Page): Promise<number> {
    const now = async (): Promise<number> => Number(await page.evaluate('Date.now()'));
    const startMs = await now();
    await until('the note', async () => {
      await page.clock.runFor(100);
      // The page's time waits for its network.
      await page.evaluate("fetch('/api/notify').then((answer) => answer.text())");
      return (await textOf(page, '#notes')).includes('Run steward open');
    });
    return (await now()) - startMs;
  }

  function say(line: object): void {
    for (const stream of served.streams) stream.say(line);
  }

  it('asks only for the document that changed, and not again for the same change', async () => {
    const page = await open();
    served.asked.length = 0;
    setWaiting('Choose a colour');
    say({ topic: 'inbox', etag: '"2"' });
    await waitForText(page, '#waiting-list', /Choose a colour/);
    expect(await page.title()).to.equal('(2) Today · steward');
    say({ topic: 'inbox', etag: '"2"' });
    say({ topic: 'sense', etag: '"2"' });
    await until('sense', () => askedFor().length >= 3);
    expect(askedFor()).to.deep.equal(['inbox', 'sense/insight', 'sense/recent']);
  });

  it('does not poll while it is live', async () => {
    const page = await open();
    served.asked.length = 0;
    await page.evaluate(COUNT_LINES);
    for (let i = 1; i <= 10; i += 1) {
      say({});
      await untilInPage(page, `window.lines >= ${i}`);
      await page.clock.runFor(30_000);
    }
    expect(await textOf(page, '#link')).to.equal('● live');
    expect(askedFor()).to.deep.equal([]);
  });

  it('polls after two missed heartbeats, and connects again', async () => {
    const page = await open();
    const [first] = served.streams;
    served.asked.length = 0;
    await page.clock.runFor(42_000);
    await until('another stream', () => served.streams.size === 1 && !served.streams.has(first!));
    await waitForText(page, '#link', /live/);
    expect(new Set(askedFor())).to.deep.equal(new Set(ALL));
  });

  it('asks everything once when it is connected again', async () => {
    const page = await open();
    setWaiting('Choose a colour');
    served.asked.length = 0;
    for (const stream of served.streams) stream.end();
    await page.clock.runFor(1000);
    await waitForText(page, '#waiting-list', /Choose a colour/);
    await waitForText(page, '#link', /live/);
    expect(new Set(askedFor())).to.deep.equal(new Set(ALL));
  });

  it('speaks of the past while the daemon is gone', async () => {
    const page = await open();
    await page.context().setOffline(true);
    for (const stream of served.streams) stream.end();
    await waitForText(page, '#link', /^▲ Not connected since 17:41\. Reconnecting\.$/);
    await page.clock.runFor(3_600_000);
    const text = await textOf(page, 'main');
    expect(text).to.match(/^Waiting at 17:41.*asked to run Bash · 6 m.*tracked until 17:41.* to 17:41/);
    expect(text).to.include('Working at 17:41');
    expect(text).not.to.match(/\b(is|are|runs|now|asks)\b|so far/);
    await page.context().setOffline(false);
    await page.clock.runFor(60_000);
    await waitForText(page, '#link', /live/);
    await waitForText(page, 'main', /tracked so far/);
  });

  it('notices within two seconds that a stopped daemon refuses the stream', async () => {
    const page = await open();
    // Time passes only where the test says so: the next poll comes after 30 s.
    await page.clock.pauseAt(Number(await page.evaluate('Date.now()')) + 10_000);
    served.asked.length = 0;
    answers['/api/stream'] = () => ({ status: 503, body: {} });
    // The daemon still answers documents while it stops.
    for (const stream of served.streams) stream.end();
    await until('the last answers', () => new Set(askedFor()).size === ALL.length);
    await page.clock.runFor(700);
    await until('the refusal', () => askedFor().includes('stream'));
    const says = (text: string): Promise<void> =>
      until(text, async () => {
        // Frames come with the time.
        await page.clock.runFor(1);
        return (await textOf(page, '#link')).startsWith(text);
      });
    await says('○ every 30 s');
    await page.context().setOffline(true);
    await page.clock.runFor(2000);
    await says('▲ Not connected since 17:41');
  });

  for (const path of ['/', '/sense', '/sessions', '/work', '/status'])
    it(`asks for a sign-in as soon as the daemon requires one: ${path}`, async () => {
      const { page } = await pages.open(`${served.url}${path}`);
      await waitForText(page, '#link', /^● live$/);
      await loseDaemon(page);
      refuseAll();
      await page.context().setOffline(false);
      expect(await untilSignIn(page)).to.be.lessThan(5000);
      await page.reload();
      await until('the facts', async () => {
        await page.clock.runFor(100);
        return (await textOf(page, '#facts')) === 'No data.';
      });
    });

  it('asks again for what did not arrive as soon as the stream is refused', async () => {
    const { page } = await pages.open(`${served.url}/status`);
    await waitForText(page, '#link', /^● live$/);
    await loseDaemon(page);
    refuseAll();
    // The network is back for one document before it is for the others and for the stream.
    const failed = new Set<string>();
    await page.route(/\/api\/(?!inbox)/, (route) => {
      failed.add(new URL(route.request().url()).pathname);
      return route.abort();
    });
    await page.context().setOffline(false);
    await until('requests that fail', async () => {
      await page.clock.runFor(100);
      return failed.has('/api/status') && failed.has('/api/stream');
    });
    await until('the first answer', async () => {
      await page.clock.runFor(1);
      return !(await textOf(page, '#link')).startsWith('▲');
    });
    await page.unroute(/\/api\/(?!inbox)/);
    expect(await untilSignIn(page)).to.be.lessThan(5000);
  });

  it('offers to reload after an upgrade', async () => {
    const page = await open();
    served.offerStream('2');
    for (const stream of served.streams) stream.end();
    await page.clock.runFor(1000);
    await waitForText(page, '#link', /^steward was upgraded\. Reload$/);
  });

  it('closes the stream a minute after it was hidden, and connects when it is seen', async () => {
    const page = await open();
    await hide(page, true);
    await page.clock.runFor(30_000);
    expect(served.streams.size).to.equal(1);
    await page.clock.runFor(31_000);
    await until('no stream', () => served.streams.size === 0);
    setWaiting('Choose a colour');
    await until('the title at the next poll', async () => {
      await page.clock.runFor(10_000);
      return (await page.title()) === '(2) Today · steward';
    });
    expect(served.streams.size).to.equal(0);
    await hide(page, false);
    await waitForText(page, '#link', /live/);
    await waitForText(page, '#waiting-list', /Choose a colour/);
  });

  it('shares one stream among tabs; when its tab is closed, another tab takes over', async () => {
    const first = await open();
    const second = await first.context().newPage();
    await second.goto(`${served.url}/`);
    await waitForText(second, '#link', /^● live$/);
    expect(served.streams.size).to.equal(1);
    setWaiting('Choose a colour');
    say({ topic: 'inbox', etag: '"2"' });
    await waitForText(second, '#waiting-list', /Choose a colour/);
    await first.close();
    await until('the other stream', () => served.streams.size === 1);
    setWaiting('Choose a size');
    say({ topic: 'inbox', etag: '"3"' });
    await waitForText(second, '#waiting-list', /Choose a size/);
    await waitForText(second, '#link', /^● live$/);
  });

  it('polls where there is no lock for the tabs', async () => {
    const context = await pages.browser.newContext();
    pages.atEnd(() => context.close());
    const page = await context.newPage();
    await page.addInitScript('delete Navigator.prototype.locks');
    await page.goto(`${served.url}/`);
    await waitForText(page, '#link', /^○ every 30 s$/);
    expect(served.streams.size).to.equal(0);
  });
});

async function hide(page: Page, hidden: boolean): Promise<void> {
  await page.evaluate(
    `Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${hidden} }); document.dispatchEvent(new Event('visibilitychange'))`,
  );
}
