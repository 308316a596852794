import { join } from 'node:path';

import { isDaemonThere } from '../daemon/client';
import { readInstance } from '../daemon/instance';
import { readBytes, replaceFile } from '../platform/files/atomic-file';
import { ensureFolder, exists, listFolder, removeFolder } from '../platform/files/folder';
import { sources } from '../sense/read';
import type { SourceStatus } from '../sense/source';
import { installedApps } from '../sense/front-app/desktop-entries';
import type { InstalledExtension, WebStatus } from '../sense/view-web';
import { whyOff } from '../sense/web';
import { pairAgain, pairingPath, readPairing } from '../sense/web-pairing';
import { BROWSERS, browserOf } from '../time/site';
import { productRoot, type Context } from '../app/context';
import { openSense } from '../app/sense';

function folderOf({ area }: Context): string {
  return join(area.machine, 'extension');
}

/** Writes the extension's folder, and pairs it unless it is paired. */
export async function installExtension(context: Context): Promise<InstalledExtension> {
  const folder = folderOf(context);
  const source = join(productRoot(context), 'extension');
  const { token } = readPairing(context.area) ?? pairAgain(context.area);
  ensureFolder(folder);
  for (const name of listFolder(source))
    replaceFile(join(folder, name), readBytes(join(source, name), { followLink: true }) ?? '');
  const { config } = await context.loadConfig();
  const browsers = [...new Set(installedApps(context.desktop).filter((app) => browserOf(app)))].sort();
  return { folder, code: await codeOf(context, token), browsers, retentionDays: config.sense.retentionDays };
}

/** Replaces the code, so that paired extensions need the new one. */
export async function newCode(context: Context): Promise<{ code: string }> {
  return { code: await codeOf(context, pairAgain(context.area).token) };
}

async function codeOf(context: Context, token: string): Promise<string> {
  // A daemon that crashed left its port.
  const daemon = (await isDaemonThere(context)) ? readInstance(context.area) : undefined;
  return `${daemon?.port ?? (await context.loadConfig()).config.user.daemon.port}-${token}`;
}

export async function webStatus(context: Context): Promise<WebStatus> {
  const { deps } = await openSense(context);
  const rows = sources(deps).filter(({ id }) => id === 'web') as [SourceStatus];
  const pairing = readPairing(context.area);
  const folder = folderOf(context);
  const off = whyOff(context.area.sense.isSetUp, deps.config);
  return {
    ...rows[0],
    ...(off && { state: 'off', reason: `${off.found}; run "${off.fix}"` }),
    paired: pairing === undefined ? null : BROWSERS.filter((browser) => pairing[browser] !== undefined),
    codeEnd: pairing?.token.slice(-4) ?? null,
    port: (await isDaemonThere(context)) ? (readInstance(context.area)?.port ?? null) : null,
    folder: exists(folder) ? folder : null,
  };
}

/** Removes the folder and the pairing, unless `dryRun`. Stored events remain. */
export function removeExtension(context: Context, dryRun = false): { removed: string[] } {
  const removed = [folderOf(context), pairingPath(context.area)].filter(exists);
  if (!dryRun) removed.forEach(removeFolder);
  return { removed };
}
