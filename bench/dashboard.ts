/**
 * Measures the time from navigation to the first frame with data at /sense, uncached; the baseline is a page with one
 * line. Needs Chromium. Run after a build: npx tsx bench/dashboard.ts
 */
import { launchBrowser, servePages } from '../test/helpers/browser';
import { fullBox, senseAnswers, BARE, HAS_DATA, paintTimes } from '../test/helpers/dashboard';
import { median } from './measure';

const ROUNDS = 10;
const LIMIT_MS = 300;

async function main(): Promise<void> {
  const box = await fullBox();
  const served = await servePages({ ...senseAnswers(box), '/bare': () => BARE });
  const browser = await launchBrowser();
  try {
    const [times = [], bare = []] = await paintTimes(
      browser,
      [
        { url: `${served.url}/sense`, isThere: HAS_DATA },
        { url: `${served.url}/bare`, isThere: `document.querySelector('#facts b')` },
      ],
      ROUNDS,
    );
    const took = median(times);
    if (!(took <= LIMIT_MS)) process.exitCode = 1;
    console.log(
      `/sense, first paint of real data: ${took.toFixed(0)} ms (median of ${ROUNDS}), limit ${LIMIT_MS} ms; ` +
        `a page with one line ${median(bare).toFixed(0)} ms`,
    );
  } finally {
    await browser.close();
    await served.close();
    box.remove();
  }
}

void main();
