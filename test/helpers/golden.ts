import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { expect } from 'chai';

/**
 * Compares a text with the file that holds what it should be. UPDATE_GOLDEN=1 writes the file instead: look
 * at the difference before you commit it. A missing file fails.
 */
export function expectGolden(path: string, text: string): void {
  if (process.env['UPDATE_GOLDEN'] === '1') {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return;
  }
  expect(existsSync(path), `${path} exists (UPDATE_GOLDEN=1 writes it)`).to.equal(true);
  expect(text).to.equal(readFileSync(path, 'utf8').replaceAll('\r\n', '\n'));
}
