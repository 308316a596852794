import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

import type { UserArea } from '../config/user-area';
import { replaceFile } from '../platform/files/atomic-file';
import { ensureFolder } from '../platform/files/folder';
import { readObject } from '../platform/files/object-file';
import { isText, optional, shape, type ShapeOf } from '../platform/files/shape';
import type { Browser } from '../time/site';

const PAIRING = { token: isText, chromium: optional(isText), firefox: optional(isText) };
const isPairing = shape(PAIRING);
/** The secret of the paired extensions, and the origin of the first one in each family of browsers. */
export type Pairing = ShapeOf<typeof PAIRING>;

/** Follows from the key in the extension's manifest. */
const CHROMIUM_ORIGIN = 'chrome-extension://ihpfcfamkkfoblpohlabmoffkbbfoeka';
/** Firefox gives an extension another id in each profile, and a temporary one whenever it is loaded. */
const FIREFOX_ORIGIN = /^moz-extension:\/\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Returns the family of browsers whose extension may have this origin. */
export function extensionOf(origin: string): Browser | undefined {
  if (origin === CHROMIUM_ORIGIN) return 'chromium';
  return FIREFOX_ORIGIN.test(origin) ? 'firefox' : undefined;
}

type Place = Pick<UserArea, 'machine'>;

/** Returns the path of the pairing, which is machine-local because the user area may be synced. */
export function pairingPath(area: Place): string {
  return join(area.machine, 'web.json');
}

export function readPairing(area: Place): Pairing | undefined {
  const stored = readObject(pairingPath(area), 4096);
  return isPairing(stored) ? stored : undefined;
}

/** Replaces the pairing, so that an extension paired before has to be paired again. */
export function pairAgain(area: Place): Pairing {
  return storePairing(area, { token: randomBytes(24).toString('base64url') });
}

function storePairing(area: Place, pairing: Pairing): Pairing {
  ensureFolder(area.machine);
  replaceFile(pairingPath(area), `${JSON.stringify(pairing)}\n`);
  return pairing;
}

/** Returns the browser of an extension that sends the code, which pairs it; undefined if the code is another one. */
export function pairedBrowser(area: Place, origin: string, isCode: (token: string) => boolean) {
  const pairing = readPairing(area);
  const browser = extensionOf(origin);
  if (pairing === undefined || browser === undefined || !isCode(pairing.token)) return undefined;
  if (pairing[browser] === undefined) storePairing(area, { ...pairing, [browser]: origin });
  return browser;
}
