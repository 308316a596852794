import { spawnSync } from 'node:child_process';
import { closeSync, copyFileSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';

import { bundleChild } from '../helpers/bundle';
import { SECRET, desktopKit, startXvfb, type DesktopKit } from '../helpers/desktop-kit';
import {
  WINE,
  WINDOWS_NODE,
  WINDOWS_PARTS,
  requireWine,
  runWine,
  startWine,
  stopWine,
} from '../helpers/wine';

describe('Windows, under wine', () => {
  let kit: DesktopKit;

  beforeEach(() => {
    kit = desktopKit();
  });

  afterEach(async () => {
    stopWine(kit);
    await kit.stop();
  });

  it('its calls name the program in front by its description, count idle time, and tell no title', async function () {
    this.timeout(300_000);
    requireWine(this);
    const bundle = bundleChild('windows-front', ['koffi']);
    try {
      await startXvfb(kit);
      startWine(kit);
      const script = join(WINDOWS_PARTS, 'windows-front.js');
      copyFileSync(bundle.path, script);
      const out = join(kit.home, 'out');
      const fd = openSync(out, 'w');
      runWine(kit, [WINDOWS_NODE, script, SECRET], fd);
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
