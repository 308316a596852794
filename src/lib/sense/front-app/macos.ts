import { posix } from 'node:path';

import { StewardError } from '../../errors';
import { READ_TIMEOUT_MS, type Desktop, type FrontApp, type FrontAppAdapter } from './adapter';

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
  const values = new Map<string, string>();
  for (const [, key, quoted, bare] of text.matchAll(/"(\w+)"\s*=\s*(?:"([^"\n]*)"|(\d+))/g)) {
    if (key !== undefined) values.set(key, quoted ?? bare ?? '');
  }
  return macApp({
    name: values.get('LSDisplayName'),
    bundleId: values.get('CFBundleIdentifier'),
    bundlePath: values.get('LSBundlePath'),
    pid: Number(values.get('pid') ?? 0),
  });
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
  if (code !== 0) {
    throw new StewardError('unavailable', 'macOS does not tell which application is in front.', {
      hint: 'A job must run inside the login session (LimitLoadToSessionType Aqua), not over ssh.',
    });
  }
  return parseScriptAnswer(stdout);
}

export function parseScriptAnswer(text: string): FrontApp | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new StewardError('unavailable', 'osascript gave no readable answer.', { cause: error });
  }
  const { name, bundleId, bundlePath, pid } = (value ?? {}) as Record<string, unknown>;
  return macApp({
    name: textOf(name),
    bundleId: textOf(bundleId),
    bundlePath: textOf(bundlePath),
    pid: Number(pid ?? 0),
  });
}

/** In front while the screen is locked or nobody is logged in: nobody's work. */
const NOBODY = new Set(['com.apple.loginwindow', 'com.apple.ScreenSaver.Engine']);

/** Programs made with one framework call themselves by its name: the bundle tells them apart. */
const FRAMEWORKS = new Set(['Electron', 'java', 'Python']);

function macApp(facts: {
  name: string | undefined;
  bundleId: string | undefined;
  bundlePath: string | undefined;
  pid: number;
}): FrontApp | null {
  const { name, bundleId, bundlePath, pid } = facts;
  if (bundleId !== undefined && NOBODY.has(bundleId)) return null;
  const ofBundle = bundlePath === undefined ? undefined : posix.basename(bundlePath, '.app');
  const own = name === undefined || FRAMEWORKS.has(name) ? undefined : name;
  const app = [own, ofBundle, bundleId, name].find((text) => text !== undefined && text !== '');
  if (app === undefined) return null;
  return { app, ...(bundleId ? { bundleId } : {}), ...(pid > 0 ? { pid } : {}) };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
