import { dirname } from 'node:path';

import { readText, replaceFile } from '../../platform/files/atomic-file';
import {
  isAbsentService,
  isBusError,
  missingSessionBus,
  sessionBusAddress,
  withBus,
  type Bus,
} from '../../platform/desktop/bus';
import { ensureFolder } from '../../platform/files/folder';
import { parseObject } from '../../platform/files/json-object';
import { shortHash } from '../../platform/files/short-hash';
import { cleanLine } from '../../platform/terminal/terminal';
import { bodyOf, titleOf } from './banner-text';
import type { Outcome, Parcel } from './channel';

export interface FreedesktopDeps {
  /** Names the session bus. */
  env: NodeJS.ProcessEnv;
  /** File of machine-local state with the ids of the banners that may be replaced. */
  banners: string;
}

/** A banner that the notification server has shown. */
interface Banner {
  id: number;
  /** Bus and connection of that server: another one counts anew, and its ids are of other banners. */
  server: string;
}

const TIMEOUT_MS = 5_000;
const MAX_BANNERS = 50;
const MAX_BYTES = 64 * 1024;
const MAX_REASON = 200;
const NAME = 'org.freedesktop.Notifications';
const SERVER = { destination: NAME, path: '/org/freedesktop/Notifications', interface: NAME };
const NO_SERVICE = {
  outcome: 'again',
  reason: 'There is no notification service on the message bus (D-Bus).',
  hint: 'Run steward inside the graphical session, with a notification service such as dunst or mako.',
} as const satisfies Outcome;

/** Why no banner can be shown, as far as that is known without asking the bus. */
export function busTrouble(env: NodeJS.ProcessEnv): { reason: string; hint: string } | undefined {
  const missing = missingSessionBus(env);
  if (missing === undefined) return undefined;
  return { reason: `There is no desktop session here: ${missing}.`, hint: NO_SERVICE.hint };
}

/** Shows a banner through the notification service of the session (Linux and the BSDs). */
export async function showOverBus(deps: FreedesktopDeps, parcel: Parcel): Promise<Outcome> {
  const address = sessionBusAddress(deps.env);
  if (address === undefined) return NO_SERVICE;
  let isAsked = false;
  try {
    await withBus({ address, timeoutMs: TIMEOUT_MS }, async (bus) => {
      isAsked = true;
      await show(bus, deps.banners, parcel);
    });
    return { outcome: 'delivered' };
  } catch (error) {
    if (isAbsentService(error)) return NO_SERVICE;
    const hint = 'Restart the notification service of the desktop.';
    if (isBusError(error)) {
      const said = error.cause instanceof Error ? error.cause.message : '';
      const reason = cleanLine(said === '' ? error.type : said, MAX_REASON);
      return { outcome: 'again', reason: `The notification service refused: ${reason}`, hint };
    }
    if (!isAsked) throw error;
    return { outcome: 'again', reason: 'The notification service of the desktop does not answer.', hint };
  }
}

async function show(bus: Bus, path: string, parcel: Parcel): Promise<void> {
  const key = parcel.dedupe === undefined ? undefined : shortHash(parcel.dedupe);
  const shown = key === undefined ? new Map<string, Banner>() : readBanners(path);
  const server = key === undefined ? undefined : await serverOf(bus);
  const before = key === undefined ? undefined : shown.get(key);
  const [id] = await bus.call({
    ...SERVER,
    member: 'Notify',
    signature: 'susssasa{sv}i',
    body: [
      'steward',
      before !== undefined && before.server === server ? before.id : 0,
      '',
      titleOf(parcel),
      // Servers may read the body as markup.
      escapeMarkup(bodyOf(parcel)),
      [],
      {
        urgency: bus.variant('y', parcel.priority >= 5 ? 2 : parcel.priority <= 2 ? 0 : 1),
        ...(parcel.silent ? { 'suppress-sound': bus.variant('b', true) } : {}),
      },
      -1,
    ],
    autoStart: true,
  });
  if (key === undefined || typeof id !== 'number') return;
  shown.delete(key);
  shown.set(key, { id, server: server ?? (await serverOf(bus)) ?? '' });
  ensureFolder(dirname(path));
  replaceFile(path, JSON.stringify(Object.fromEntries([...shown].slice(-MAX_BANNERS))));
}

/** Undefined while none runs. */
async function serverOf(bus: Bus): Promise<string | undefined> {
  const dbus = {
    destination: 'org.freedesktop.DBus',
    path: '/org/freedesktop/DBus',
    interface: 'org.freedesktop.DBus',
  };
  try {
    const [owner] = await bus.call({ ...dbus, member: 'GetNameOwner', signature: 's', body: [NAME] });
    const [id] = await bus.call({ ...dbus, member: 'GetId' });
    return `${String(id)} ${String(owner)}`;
  } catch (error) {
    if (isAbsentService(error)) return undefined;
    throw error;
  }
}

/** In the order in which they were shown. */
function readBanners(path: string): Map<string, Banner> {
  const stored = parseObject(readText(path, { maxBytes: MAX_BYTES }) ?? '') ?? {};
  return new Map(
    Object.entries(stored).filter((entry): entry is [string, Banner] => {
      const { id, server } = (entry[1] ?? {}) as Partial<Banner>;
      return Number.isInteger(id) && typeof server === 'string';
    }),
  );
}

function escapeMarkup(text: string): string {
  return text.replace(/[&<>]/g, (char) => (char === '&' ? '&amp;' : char === '<' ? '&lt;' : '&gt;'));
}
