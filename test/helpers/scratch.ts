import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new folder for each test of the suite that it is called in; removed after it. */
export function scratch(): { path: (...names: string[]) => string } {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'steward-scratch-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return { path: (...names) => join(folder, ...names) };
}
