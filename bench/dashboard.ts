/**
 * Measures the time from navigation to the first frame with data at `/`, uncached, and the time to draw a day of 2,000
 * intervals; the baseline is a page with one line. Needs Chromium. Run after a build: npx tsx bench/dashboard.ts
 */
import { launchBrowser, servePages } from '../test/helpers/browser';
import {
  BARE,
  DRAW_MANY,
  fullBox,
  HAS_DAY,
  openPage,
  paintTimes,
  senseAnswers,
} from '../test/helpers/dashboard';
import { median } from './measure';

const ROUNDS = 10;
const LIMIT_MS = 300;
const DRAW_LIMIT_MS = 50;

async function main(): Promise<void> {
  const box = await fullBox();
  const served = await servePages({ ...senseAnswers(box), '/bare': () => BARE });
  const browser = await launchBrowser();
  try {
    const [times = [], bare = []] = await paintTimes(
      browser,
      [
        { url: `${served.url}/`, isThere: HAS_DAY },
        { url: `${served.url}/bare`, isThere: `document.querySelector('#facts b')` },
      ],
      ROUNDS,
    );
    const took = median(times);
    const { page } = await openPage(browser, `${served.url}/`);
    const [, many = []] = (await page.evaluate(DRAW_MANY)) as number[][];
    const draws = median(many);
    if (!(took <= LIMIT_MS && draws <= DRAW_LIMIT_MS)) process.exitCode = 1;
    console.log(`2,000 intervals: ${draws.toFixed(1)} ms, limit ${DRAW_LIMIT_MS} ms`);
    console.log(
      `/, first paint of real data: ${took.toFixed(0)} ms (median of ${ROUNDS}), limit ${LIMIT_MS} ms; ` +
        `a page with one line ${median(bare).toFixed(0)} ms`,
    );
  } finally {
    await browser.close();
    await served.close();
    box.remove();
  }
}

void main();
