import { lstatSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

/** A new folder for each test of the suite that it is called in; removed after it. */
export function scratch(): { path: (...names: string[]) => string } {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'steward-scratch-'));
  });
  afterEach(() => {
    removeFolder(folder);
  });
  return { path: (...names) => join(folder, ...names) };
}

/**
 * Removes a folder in which a child of what was tested may still be writing its last file: rmSync's own `maxRetries`
 * does not cover a folder that was filled again meanwhile.
 */
export function removeFolder(path: string): void {
  for (let tried = 0; ; tried += 1) {
    try {
      rmSync(path, { recursive: true, force: true });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY' || tried === 500) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
  }
}

/**
 * Everything below a folder: the mode of each folder, mode and bytes of each file, the target of each link.
 *
 * @param but paths below it that are left out, with all in them
 */
export function snapshot(folder: string, but: readonly string[] = []): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (path: string): void => {
    const name = relative(folder, path);
    if (but.includes(name)) return;
    const facts = lstatSync(path);
    const mode = (facts.mode & 0o777).toString(8);
    if (facts.isSymbolicLink()) found[name] = `link ${readlinkSync(path)}`;
    else if (!facts.isDirectory()) found[name] = `${mode} ${readFileSync(path).toString('base64')}`;
    else {
      // A folder that leads to what is left out came with that.
      if (!but.some((left) => left.startsWith(`${name}/`))) found[name] = `${mode} folder`;
      for (const entry of readdirSync(path)) visit(join(path, entry));
    }
  };
  visit(folder);
  return found;
}
