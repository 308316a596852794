import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, CDPSession } from 'playwright-core';

import { median } from '../../bench/measure';
import { ASSETS, launchBrowser, servePages, type Answers, type Served } from '../helpers/browser';
import {
  BARE,
  COUNT_LINES,
  DRAW_MANY,
  fullBox,
  HAS_DAY,
  openPage,
  paintTimes,
  senseAnswers,
  textOf,
  until,
  waitForText,
} from '../helpers/dashboard';
import { requirePrograms } from '../helpers/real-part';
import type { SenseBox } from '../helpers/sense';

describe('the figures of the first page in Chromium', function () {
  this.timeout(900_000);
  let browser: Browser;
  let full: SenseBox;
  let answers: Answers;
  let served: Served;

  before(async function () {
    requirePrograms(this, { chromium: 'chromium' });
    browser = await launchBrowser();
    full = await fullBox();
    // What users get: the script that the build makes of all files.
    const text = readFileSync(join(ASSETS, 'page.js'), 'utf8');
    const script = () => ({ type: 'text/javascript; charset=utf-8', text });
    // The daemon also answers from its cache.
    const kept = Object.entries(senseAnswers(full)).map(([path, answer]) => {
      const [plain, totals] = [answer(), answer(new URL('http://localhost/?fields=totals'))];
      return [path, (url?: URL) => (url?.searchParams.has('fields') ? totals : plain)] as const;
    });
    answers = { ...Object.fromEntries(kept), '/bare': () => BARE, '/assets/page.js': script };
    served = await servePages(answers);
  });
  after(async () => {
    await browser?.close();
    await served?.close();
    full?.remove();
  });

  it('shows the day at most 300 ms after a page with one line, after at most 9 requests', async () => {
    served.asked.length = 0;
    const [times = [], bare = []] = await paintTimes(
      browser,
      [
        { url: `${served.url}/`, isThere: HAS_DAY },
        { url: `${served.url}/bare`, isThere: `document.querySelector('#facts b')` },
      ],
      5,
    );
    const more = median(times.map((time, i) => time - bare[i]!));
    console.log(
      `      ${more.toFixed(0)} ms more than the ${median(bare).toFixed(0)} ms of a page with one line`,
    );
    // On a machine that is busy with other things, a page with one line takes its time as well.
    expect(more).to.be.at.most(Math.max(300, 8 * median(bare)));
    const { page, close } = await openPage(browser, `${served.url}/`);
    await page.locator('#week .figure').nth(6).waitFor();
    const late = /insight|recent|usage|stream/;
    const before = await page.evaluate("performance.getEntriesByType('resource').map(({ name }) => name)");
    const needed = (before as string[]).filter((name) => !late.test(name) && !name.startsWith('data:'));
    // The page itself is one more.
    expect(needed.length + 1, needed.join()).to.be.at.most(9);
    await close();
  });

  it('draws a day of 2,000 intervals within 50 ms, or ten times what 20 take', async () => {
    const { page, close } = await openPage(browser, `${served.url}/`);
    const [few = [], many = []] = (await page.evaluate(DRAW_MANY)) as number[][];
    console.log(`      ${median(many).toFixed(1)} ms, and ${median(few).toFixed(1)} ms for 20 intervals`);
    // On a machine that is busy with other things, a day of 20 intervals takes its time as well.
    expect(Math.min(...many)).to.be.at.most(Math.max(50, 10 * Math.min(...few)));
    await close();
  });

  // 120 bursts an hour; STEWARD_SOAK=2 runs twice as long, and on all pages.
  const soak = Number(process.env['STEWARD_SOAK'] ?? 1);
  const hours = 3 * soak;
  for (const path of soak > 1 ? ['/', '/sense', '/sessions', '/work', '/status'] : ['/'])
    it(`keeps the memory of ${path} over ${hours} simulated hours`, async () => {
      served.offerStream();
      const { page, close } = await openPage(browser, `${served.url}${path}`);
      await waitForText(page, '#link', /live/);
      const session = await page.context().newCDPSession(page);
      await session.send('Performance.enable');
      await page.evaluate(COUNT_LINES);
      const sizes: { heap: number; nodes: number }[] = [];
      for (let hour = 1; hour <= hours; hour += 1) {
        for (let i = 0; i < 120; i += 1) {
          const topic =
            i % 8 === 0 ? { topic: ['day', 'sessions', 'sense'][i % 3], etag: `${hour} ${i}` } : {};
          for (const stream of served.streams) stream.say(topic);
          await until(page, `window.lines >= ${hour * 120 - 119 + i}`);
          await page.clock.runFor(30_000);
        }
        sizes.push(await sizeOf(session));
      }
      expect(await textOf(page, '#link')).to.equal('● live');
      const [early, late] = [sizes[1]!, sizes.at(-1)!];
      const mega = (bytes: number): string => (bytes / 1e6).toFixed(2);
      console.log(
        `      ${mega(early.heap)} MB after 240 bursts, ${mega(late.heap)} MB after ${hours * 120}`,
      );
      expect(late.heap).to.be.at.most(early.heap * 1.1 + 200_000);
      expect(late.nodes).to.be.at.most(early.nodes * 1.1 + 100);
      await close();
    });
});

async function sizeOf(session: CDPSession): Promise<{ heap: number; nodes: number }> {
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  const valueOf = (wanted: string): number => metrics.find(({ name }) => name === wanted)?.value ?? NaN;
  return { heap: valueOf('JSHeapUsedSize'), nodes: valueOf('Nodes') };
}
