import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';

import { launchBrowser, servePages, type Answers, type Served } from './browser';
import { fullBox, openPage, type OpenOptions, type OpenPage } from './dashboard';
import { requirePrograms } from './real-part';
import type { SenseBox } from './sense';

export const AXE = readFileSync(
  join(__dirname, '..', '..', 'node_modules', 'axe-core', 'axe.min.js'),
  'utf8',
);

export interface Pages {
  browser: Browser;
  /** A box with the full day, the same for all tests. */
  full: SenseBox;
  /** Serves the pages until the test ends. */
  serve(answers: Answers): Promise<Served>;
  /** Opens an address until the test ends. */
  open(url: string, options?: OpenOptions): Promise<OpenPage>;
  /** Closes something when the test ends; what was added last first. */
  atEnd(close: () => Promise<void>): void;
}

/** Opens the list of shortcuts, and returns the keys in it. */
export async function listedKeys(page: Page): Promise<string[]> {
  await page.keyboard.press('?');
  await page.locator('dialog dt').first().waitFor();
  return page.locator('dialog dt').allTextContents();
}

/** Starts Chromium for the suite that calls it, and skips its tests where there is none. */
export function pagesInChromium(): Pages {
  const closing: (() => Promise<void>)[] = [];
  const pages = {
    async serve(answers) {
      const served = await servePages(answers);
      closing.push(served.close);
      return served;
    },
    async open(url, options) {
      const one = await openPage(pages.browser, url, options);
      closing.push(one.close);
      return one;
    },
    atEnd: (close) => void closing.push(close),
  } as Pages;
  before(async function () {
    requirePrograms(this, { chromium: 'chromium' });
    pages.browser = await launchBrowser();
    pages.full = await fullBox();
  });
  after(async () => {
    await pages.browser?.close();
    pages.full?.remove();
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  return pages;
}

/** Returns what axe finds wrong with a page: each rule, with the elements that break it. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return (await page.evaluate(
    'axe.run({ rules: { "target-size": { enabled: true } } }).then(({ violations }) => violations.map(({ id, nodes }) => id + nodes.map(({ html }) => html).join()))',
  )) as string[];
}

/** Resolves in the page with how far its content has shifted since it was opened. */
export const SHIFT = `new Promise((done) => new PerformanceObserver((list) =>
  done(list.getEntries().reduce((sum, { value }) => sum + value, 0))).observe({ type: 'layout-shift', buffered: true })
  || setTimeout(() => done(0), 500))`;
