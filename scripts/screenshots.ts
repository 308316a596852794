// npm run screenshots: the pages of the documentation, as Chromium shows the demo.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';

import { serveDaemon } from '../src/lib/cli/serve';
import { openLink } from '../src/lib/daemon/remote';
import { withDemo } from '../src/lib/demo/folder';
import { launchBrowser } from '../test/helpers/browser';
import { HAS_DATA, openPage, until, waitForText } from '../test/helpers/dashboard';

const FOLDER = join(__dirname, '..', 'docs', 'images');
const MAX_BYTES = 150_000;
const NOW = '2026-11-20T17:41:00Z';

const PAGES = {
  today: { isThere: "document.querySelector('#timeline svg')", width: 1120, height: 920 },
  sense: { isThere: HAS_DATA, width: 1160, height: 700 },
  work: { isThere: "document.querySelector('main a')", width: 1280, height: 600 },
} as const;
type PageName = keyof typeof PAGES;

async function main(): Promise<void> {
  process.env['TZ'] = 'UTC';
  const clock = { now: () => Date.parse(NOW), monotonic: () => performance.now() };
  const browser = await launchBrowser();
  const templates = join(__dirname, '..', 'templates');
  try {
    await withDemo({ clock, templates }, { join: false }, async (_folder, context) => {
      let shot: Promise<void> | undefined;
      const onListening = (): void => {
        shot = shootAll(browser, async (page) => (await openLink(context, page)).url).finally(() =>
          process.kill(process.pid, 'SIGTERM'),
        );
      };
      await serveDaemon(context, { port: 0 }, { isJson: false, say: console.error, onListening });
      await shot;
    });
  } finally {
    await browser.close();
  }
}

async function shootAll(browser: Browser, link: (page: PageName) => Promise<string>): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const name of ['today', 'sense', 'work'] as const) {
      const { isThere, ...viewport } = PAGES[name];
      const options = { colorScheme, reducedMotion: 'reduce', viewport } as const;
      const { page, close } = await openPage(browser, await link(name), { ...options, now: NOW });
      await until(page, isThere);
      await waitForText(page, '#link', /^● live$/);
      const path = join(FOLDER, `${name}-${colorScheme}.png`);
      await page.screenshot({ path, animations: 'disabled', caret: 'hide', scale: 'css' });
      await close();
      const { size } = statSync(path);
      if (size > MAX_BYTES) throw new Error(`${path} has ${size} bytes; ${MAX_BYTES} at most.`);
      console.log(`docs/images/${name}-${colorScheme}.png  ${Math.round(size / 1024)} KiB`);
    }
  }
}

void main();
