import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';

import { requirePart, requirePrograms } from '../helpers/real-part';
import { scratch } from '../helpers/scratch';

const ROOT = resolve(__dirname, '..', '..');
const LINTER = join(ROOT, 'node_modules', '.cache', 'steward-extension', 'node_modules', '.bin', 'web-ext');

describe('the packages of the browser extension', function () {
  this.timeout(60_000);
  const files = scratch();

  function build(folder: string): string[] {
    execFileSync(process.execPath, [join(ROOT, 'scripts', 'extension.mjs'), files.path(folder)]);
    return readdirSync(files.path(folder)).map((name) => files.path(folder, name));
  }

  const manifestIn = (zip: string): Record<string, unknown> =>
    JSON.parse(execFileSync('unzip', ['-p', zip, 'manifest.json'], { encoding: 'utf8' })) as Record<
      string,
      unknown
    >;

  it('are the same bytes for the same source, and whole', function () {
    requirePrograms(this, { unzip: 'unzip' });
    const hash = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');
    const zips = build('a');
    expect(zips.map(hash)).to.deep.equal(build('b').map(hash));
    for (const zip of zips) {
      execFileSync('unzip', ['-tq', zip]);
      const names = execFileSync('unzip', ['-Z1', zip], { encoding: 'utf8' }).trim().split('\n');
      expect(names).to.deep.equal(readdirSync(join(ROOT, 'extension')).sort());
    }
  });

  it('ask for what is needed and no more, in each browser', function () {
    requirePrograms(this, { unzip: 'unzip' });
    const [chromium, firefox] = build('a').sort().map(manifestIn);
    for (const manifest of [chromium, firefox])
      expect(manifest).to.deep.include({
        manifest_version: 3,
        permissions: ['alarms', 'idle', 'storage'],
        host_permissions: ['http://127.0.0.1/*'],
        optional_host_permissions: ['https://*/*'],
        incognito: 'not_allowed',
      });
    expect(chromium).to.not.have.any.keys('key', 'browser_specific_settings');
    expect(chromium).to.have.deep.property('background', { service_worker: 'worker.js', type: 'module' });
    expect(firefox).to.not.have.any.keys('key', 'minimum_chrome_version');
    expect(firefox).to.have.deep.property('background', { scripts: ['worker.js'], type: 'module' });
    expect(firefox).to.have.nested.property(
      'browser_specific_settings.gecko.data_collection_permissions.required[0]',
      'browsingActivity',
    );
  });

  it('pass the linter of Firefox', function () {
    requirePart(this, existsSync(LINTER), 'web-ext is not installed: npm run extension-parts');
    const zip = build('a').find((path) => path.includes('firefox')) ?? '';
    const told = execFileSync(
      LINTER,
      ['lint', '--no-config-discovery', '--output', 'json', '--source-dir', zip],
      { encoding: 'utf8' },
    );
    const { errors, warnings } = JSON.parse(told) as { errors: unknown[]; warnings: { code: string }[] };
    expect(errors).to.deep.equal([]);
    // Firefox before 140 ignores the declaration of what is sent; the options page says it there.
    expect(warnings.filter(({ code }) => !code.endsWith('UNSUPPORTED_BY_MIN_VERSION'))).to.deep.equal([]);
  });
});
