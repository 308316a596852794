import { posix } from 'node:path';

import { StewardError } from '../../errors';
import { textOf } from '../../platform/files/json-object';
import { READ_TIMEOUT_MS, type Desktop, type FrontApp, type FrontAppAdapter } from './adapter';

/** The adapter for macOS. `lsappinfo` queries Launch Services and requires no permission. */
export const macos: FrontAppAdapter = {
  id: 'macos',
  detect: (desktop) => desktop.platform === 'darwin',
  async read(desktop) {
    const asn = /ASN:0x[0-9a-f]+-0x[0-9a-f]+/i.exec(await lsappinfo(desktop, ['front']))?.[0];
    // lsappinfo prints "[ NULL ]" on the login screen and while a screen saver is running.
    if (asn === undefined) return null;
    const keys = ['name', 'bundleid', 'bundlepath', 'pid'].flatMap((key) => ['-only', key]);
    return parseAppInfo(await lsappinfo(desktop, ['info', ...keys, asn]));
  },
};

async function lsappinfo(desktop: Desktop, args: string[]): Promise<string> {
  const { code, stdout } = await desktop.run('/usr/bin/lsappinfo', args, { timeoutMs: READ_TIMEOUT_MS });
  if (code === 0) return stdout;
  throw new StewardError('unavailable', 'macOS did not return the frontmost application.', {
    hint: 'Run the capture in the login session (LimitLoadToSessionType Aqua), not over ssh.',
  });
}

/** System applications that are frontmost while the screen is locked or no user is logged in. */
const LOCK_SCREENS = ['com.apple.loginwindow', 'com.apple.ScreenSaver.Engine'];
/** Applications built with these frameworks report the framework's name instead of their own. */
const FRAMEWORKS = ['Electron', 'java', 'Python'];

function parseAppInfo(text: string): FrontApp | null {
  const values: Record<string, string> = {};
  for (const [, key = '', quoted, bare = ''] of text.matchAll(/"(\w+)"\s*=\s*(?:"([^"\n]*)"|(\d+))/g))
    values[key] = quoted ?? bare;
  const [name, bundleId, path] = ['LSDisplayName', 'CFBundleIdentifier', 'LSBundlePath'].map((key) =>
    textOf(values[key]),
  );
  if (bundleId !== undefined && LOCK_SCREENS.includes(bundleId)) return null;
  const isOwnName = name !== undefined && !FRAMEWORKS.includes(name);
  const bundleName = path === undefined ? undefined : textOf(posix.basename(path, '.app'));
  const app = (isOwnName ? name : undefined) ?? bundleName ?? bundleId ?? name;
  if (app === undefined) return null;
  const pid = Number(values['pid'] ?? 0);
  return { app, ...(bundleId === undefined ? {} : { bundleId }), ...(pid > 0 ? { pid } : {}) };
}
