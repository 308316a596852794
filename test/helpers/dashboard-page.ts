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
  page.setDefaultTimeout(30_000);
  const console: string[] = [];
  const requests: string[] = [];
  page.on('console', (message) => console.push(message.text()));
  page.on('pageerror', (error) => console.push(String(error)));
  page.on('request', (request) => requests.push(request.url()));
  if (now !== null) await page.clock.install({ time: now });
  await page.goto(url);
  await page.waitForFunction(
    "!/…$/.test(document.querySelector('#facts').textContent) || document.querySelector('#notes').textContent !== ''",
  );
  return { page, console, requests, close: () => context.close() };
}

/** The text of an element, its spaces made one. */
export async function textOf(page: Page, selector: string): Promise<string> {
  return ((await page.locator(selector).first().textContent()) ?? '').replace(/\s+/g, ' ').trim();
}

/** Waits until an element's text matches. */
export async function waitForText(page: Page, selector: string, pattern: RegExp): Promise<void> {
  await page.waitForFunction(
    ([selected, source]) =>
      new RegExp(source!).test(
        (globalThis as never as { document: Queried }).document.querySelector(selected!)?.textContent ?? '',
      ),
    [selector, pattern.source],
  );
}

interface Queried {
  querySelector: (selector: string) => { textContent: string } | null;
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
