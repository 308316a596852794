import { posix } from 'node:path';

import { StewardError } from '../../errors';
import { textOf } from '../../platform/files/json-object';
import { parseAnswer, READ_TIMEOUT_MS, type Desktop, type FrontApp, type FrontAppAdapter } from './adapter';

/** macOS: Launch Services by `lsappinfo`, which asks for no permission; the Cocoa bridge where that fails. */
export const macos: FrontAppAdapter = {
  id: 'macos',
  detect: (desktop) => desktop.platform === 'darwin',
  async read(desktop) {
    const front = await ask(desktop, ['front']);
    const asn = /ASN:0x[0-9a-f]+-0x[0-9a-f]+/i.exec(front ?? '')?.[0];
    if (asn === undefined) return readByScript(desktop);
    const keys = ['name', 'bundleid', 'bundlepath', 'pid'].flatMap((key) => ['-only', key]);
    const info = await ask(desktop, ['info', ...keys, asn]);
    return info === undefined ? readByScript(desktop) : parseAppInfo(info);
  },
};

async function ask(desktop: Desktop, args: string[]): Promise<string | undefined> {
  const { code, stdout } = await desktop.run('/usr/bin/lsappinfo', args, { timeoutMs: READ_TIMEOUT_MS });
  return code === 0 ? stdout : undefined;
}

/** `"LSDisplayName"="Safari"`, `"pid"=312`, one a line; `[ NULL ]` is what is not known. */
export function parseAppInfo(text: string): FrontApp | null {
  const values: Record<string, string> = {};
  for (const [, key = '', quoted, bare = ''] of text.matchAll(/"(\w+)"\s*=\s*(?:"([^"\n]*)"|(\d+))/g))
    values[key] = quoted ?? bare;
  const { LSDisplayName: name, CFBundleIdentifier: bundleId, LSBundlePath: bundlePath, pid } = values;
  return macApp({ name, bundleId, bundlePath, pid });
}

/** JXA, ~10 times slower; it needs no permission either, for it asks the workspace and no other program. */
const SCRIPT = `
ObjC.import('AppKit');
const app = $.NSWorkspace.sharedWorkspace.frontmostApplication;
JSON.stringify(app.isNil() ? {} : {
  name: ObjC.unwrap(app.localizedName), bundleId: ObjC.unwrap(app.bundleIdentifier),
  bundlePath: ObjC.unwrap(app.bundleURL.path), pid: app.processIdentifier });
`;

async function readByScript(desktop: Desktop): Promise<FrontApp | null> {
  const args = ['-l', 'JavaScript', '-e', SCRIPT];
  const { code, stdout } = await desktop.run('/usr/bin/osascript', args, { timeoutMs: READ_TIMEOUT_MS });
  if (code === 0) return parseScriptAnswer(stdout);
  throw new StewardError('unavailable', 'macOS does not tell which application is in front.', {
    hint: 'A job must run inside the login session (LimitLoadToSessionType Aqua), not over ssh.',
  });
}

export function parseScriptAnswer(text: string): FrontApp | null {
  const hint = 'Run steward inside the login session.';
  return macApp(parseAnswer(text, () => true, { who: 'osascript', hint }) ?? {});
}

/** In front while the screen is locked or nobody is logged in: nobody's work. */
const NOBODY = ['com.apple.loginwindow', 'com.apple.ScreenSaver.Engine'];

/** Programs made with one framework call themselves by its name: the bundle tells them apart. */
const FRAMEWORKS = ['Electron', 'java', 'Python'];

function macApp(facts: Readonly<Record<string, unknown>>): FrontApp | null {
  const [name, bundleId, bundlePath] = [facts['name'], facts['bundleId'], facts['bundlePath']].map(textOf);
  const pid = Number(facts['pid'] ?? 0);
  if (bundleId !== undefined && NOBODY.includes(bundleId)) return null;
  const ofBundle = bundlePath === undefined ? undefined : textOf(posix.basename(bundlePath, '.app'));
  const own = name === undefined || FRAMEWORKS.includes(name) ? undefined : name;
  const app = own ?? ofBundle ?? bundleId ?? name;
  if (app === undefined) return null;
  return { app, ...(bundleId === undefined ? {} : { bundleId }), ...(pid > 0 ? { pid } : {}) };
}
