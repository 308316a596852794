import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'chai';

import { NOW } from './dashboard';

export interface OpenOptions extends BrowserContextOptions {
  /** The time that the page believes in, ISO-8601; real time when null. */
  now?: string | null;
}

export interface OpenPage {
  page: Page;
  /** What the page wrote to its console, policy violations and script errors included. */
  console: string[];
  /** Every address that it asked for. */
  requests: string[];
  close: () => Promise<void>;
}

/** Opens an address in a fresh profile, and waits until figures are there or said to be missing. */
export async function openPage(browser: Browser, url: string, options: OpenOptions = {}): Promise<OpenPage> {
  const { now = NOW, ...more } = options;
  const context = await browser.newContext({
    viewport: { width: 1200, height: 800 },
    timezoneId: 'UTC',
    ...more,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const console: string[] = [];
  const requests: string[] = [];
  page.on('console', (message) => console.push(message.text()));
  page.on('pageerror', (error) => console.push(String(error)));
  page.on('request', (request) => requests.push(request.url()));
  if (now !== null) await page.clock.install({ time: now });
  await page.goto(url);
  await until(
    page,
    "!/…$/.test(document.querySelector('#facts').textContent) || document.querySelector('#notes').textContent !== ''",
  );
  return { page, console, requests, close: () => context.close() };
}

/** The text of an element, its spaces made one. */
export async function textOf(page: Page, selector: string): Promise<string> {
  return ((await page.locator(selector).first().textContent()) ?? '').replace(/\s+/g, ' ').trim();
}

/** Waits until an expression is true in the page, and returns what it is then; the page's policy forbids it to ask itself. */
export async function until(page: Page, expression: string): Promise<unknown> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const value: unknown = await page.evaluate(expression);
    if (value) return value;
    if (performance.now() > deadline) throw new Error(`Not so within a minute: ${expression}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** Waits until an element's text matches, its spaces made one. */
export async function waitForText(page: Page, selector: string, pattern: RegExp): Promise<void> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const text = await textOf(page, selector);
    if (pattern.test(text)) return;
    if (performance.now() > deadline)
      throw new Error(`${selector} is not ${pattern} within a minute: ${text}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** The cells of a table's body, a list a row. */
export function cellsOf(page: Page, selector: string): Promise<string[][]> {
  return page
    .locator(`${selector} tbody tr`)
    .evaluateAll((rows) =>
      rows.map((row) =>
        [...(row as never as { cells: { textContent: string }[] }).cells].map((cell) => cell.textContent),
      ),
    );
}

/** Lets the page ask again, as if its interval had passed. */
export async function nextRound(page: Page, ms = 31_000): Promise<void> {
  await page.clock.fastForward(ms);
}

/** Fails on anything that the page wrote to its console, and on a request to another host. */
export function expectQuiet({ console, requests }: OpenPage, url: string): void {
  expect(console).to.deep.equal([]);
  expect(requests.filter((one) => !one.startsWith(`${url}/`) && !one.startsWith('data:'))).to.deep.equal([]);
}

/**
 * Milliseconds from the navigation to the frame in which an expression is true, each time in a profile of its
 * own with nothing cached; the pages in turns, so that a slow moment meets all of them.
 */
export async function paintTimes(
  browser: Browser,
  pages: readonly { url: string; isThere: string }[],
  rounds: number,
): Promise<number[][]> {
  const times = pages.map((): number[] => []);
  // The first two start processes of the browser.
  for (let round = -2; round < rounds; round += 1) {
    for (const [index, { url, isThere }] of pages.entries()) {
      const context = await browser.newContext({ viewport: { width: 1200, height: 800 } });
      const page = await context.newPage();
      await page.addInitScript(notePaint(isThere));
      await page.goto(url);
      const took = (await until(page, 'window.painted')) as number;
      if (round >= 0) times[index]!.push(took);
      await context.close();
    }
  }
  return times;
}

/** A task that is posted in a frame runs when that frame is painted. */
function notePaint(isThere: string): string {
  return `(() => {
    const look = () => {
      if (!(${isThere})) return requestAnimationFrame(look);
      const channel = new MessageChannel();
      channel.port1.onmessage = () => { window.painted = performance.now(); };
      channel.port2.postMessage(0);
    };
    requestAnimationFrame(look);
  })()`;
}

/** The figures of today and its columns. */
export const HAS_DATA = `document.querySelector('#facts b') && document.querySelector('[data-hour]')`;
/** A page with one line, for comparison. */
export const BARE = {
  type: 'text/html',
  text: '<!doctype html><title>bare</title><p id="facts"><b>bare</b></p>',
};
