import { chromium, type Browser } from 'playwright-core';

import { findProgram } from '../../src/lib/platform/process/spawn';

/** Chromium without a display, and without anything that would make requests of its own. */
export function launchBrowser(more: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: findProgram('chromium') ?? 'chromium',
    timeout: 60_000,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...more,
    ],
  });
}
