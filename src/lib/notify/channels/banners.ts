import { dirname } from 'node:path';

import { throwIfBug } from '../../errors';
import {
  BUS,
  isAbsentService,
  isBusError,
  sessionBusAddress,
  withBus,
  type Bus,
} from '../../platform/desktop/bus';
import { replaceFile } from '../../platform/files/atomic-file';
import { ensureFolder } from '../../platform/files/folder';
import { readObject } from '../../platform/files/object-file';
import { shortHash } from '../../platform/files/short-hash';
import { cleanLine } from '../../platform/terminal/terminal';
import { EVENTS } from '../events';
import { notePush, type Offer, offerFor, type PushDeps } from '../pushes';
import { escapeMarkup, short } from '../text';
import { type BannerButtons, NAME, shownOnBanner, TIMEOUT_MS } from './banner-buttons';
import type { ChannelDeps, Outcome, Parcel } from './channel';

export type BannerDeps = Pick<ChannelDeps, 'env' | 'banners' | 'pushes'>;

const MAX_TITLE = 120;
const MAX_BODY = 1000;

export function titleOf({ title, event }: Parcel): string {
  return short(title ?? EVENTS[event].title, MAX_TITLE);
}

export function bodyOf({ message }: Parcel): string {
  const chars = [...message];
  return chars.length <= MAX_BODY ? message : `${chars.slice(0, MAX_BODY - 1).join('')}…`;
}

const MAX_BANNERS = 50;
const SERVER = { destination: NAME, path: '/org/freedesktop/Notifications', interface: NAME };
const NO_SERVICE = {
  outcome: 'again',
  reason: 'No notification service on the message bus (D-Bus).',
  hint: 'Run steward in the graphical session, with a notification service such as dunst or mako.',
} as const satisfies Outcome;

/** Shows a banner through the desktop session's notification service (Linux and BSD). */
export async function showOverBus(
  deps: BannerDeps,
  parcel: Parcel,
  buttons: BannerButtons,
): Promise<Outcome> {
  const address = sessionBusAddress(deps.env);
  if (address === undefined) return NO_SERVICE;
  let isConnected = false;
  try {
    await withBus({ address, timeoutMs: TIMEOUT_MS }, async (bus) => {
      isConnected = true;
      const offer = await offerOver(bus, deps.pushes, parcel);
      const hasButtons = offer !== undefined && offer.buttons.length > 0;
      const sender = hasButtons ? await buttons.bus(address) : bus;
      const ref = await notifyOver(sender, deps.banners, parcel, offer);
      if (hasButtons && ref !== undefined) buttons.shown.add(ref);
      const { thread, message } = parcel;
      if (thread === undefined || offer === undefined) return;
      await notePush(deps.pushes, {
        ...offer,
        channel: 'desktop',
        thread,
        message,
        ref,
        atMs: deps.pushes.clock.now(),
      });
    });
    return { outcome: 'delivered' };
  } catch (error) {
    if (isAbsentService(error)) return NO_SERVICE;
    const hint = "Restart the desktop's notification service.";
    if (isBusError(error)) {
      const cause = error.cause instanceof Error ? error.cause.message : '';
      const reason = cleanLine(cause === '' ? error.type : cause, 200);
      return { outcome: 'again', reason: `The notification service returned an error: ${reason}`, hint };
    }
    if (!isConnected) throw error;
    return { outcome: 'again', reason: 'The notification service is not responding.', hint };
  }
}

/** Returns what the banner offers, without buttons if the service shows none. */
async function offerOver(bus: Bus, pushes: PushDeps, { thread }: Parcel): Promise<Offer | undefined> {
  if (thread === undefined) return undefined;
  const offer = await offerFor(pushes, thread, shownOnBanner);
  if (offer === undefined || offer.buttons.length === 0) return offer;
  const [capabilities] = await bus.call({ ...SERVER, member: 'GetCapabilities', autoStart: true });
  const hasActions = Array.isArray(capabilities) && capabilities.includes('actions');
  return hasActions ? offer : { ...offer, buttons: [], text: '' };
}

/** Closes a banner, unless you or the service closed it. */
export async function closeBanner(env: NodeJS.ProcessEnv, ref: string): Promise<void> {
  const [id = '', server] = [ref.replace(/ .*/, ''), ref.replace(/^\S+ /, '')];
  const address = sessionBusAddress(env) ?? '';
  try {
    await withBus({ address, timeoutMs: TIMEOUT_MS }, async (bus) => {
      if (server === (await serverOf(bus)))
        await bus.call({ ...SERVER, member: 'CloseNotification', signature: 'u', body: [Number(id)] });
    });
  } catch (error) {
    // The banner is gone if you closed it or have logged out.
    throwIfBug(error);
  }
}

/** Shows a banner, and returns its id with that of the service. */
async function notifyOver(bus: Bus, path: string, parcel: Parcel, offer: Offer | undefined) {
  const key = parcel.dedupe === undefined ? undefined : shortHash(parcel.dedupe);
  const banners = key === undefined ? {} : readBanners(path);
  const previous = key === undefined ? undefined : banners[key];
  const isSame = previous !== undefined && previous.server === (await serverOf(bus));
  const [id] = await bus.call({
    ...SERVER,
    member: 'Notify',
    signature: 'susssasa{sv}i',
    body: [
      'steward',
      isSame ? previous.id : 0,
      '',
      titleOf(parcel),
      // Some notification services render markup in the body, so escape it.
      escapeMarkup([bodyOf(parcel), offer?.text ?? ''].join('\n').trimEnd()),
      offer?.buttons.flatMap(({ token, label }) => [token, label]) ?? [],
      [
        ['urgency', ['y', parcel.priority >= 5 ? 2 : parcel.priority <= 2 ? 0 : 1]],
        ...(parcel.silent ? [['suppress-sound', ['b', true]]] : []),
      ],
      -1,
    ],
    autoStart: true,
  });
  if (typeof id !== 'number') return undefined;
  const server = (await serverOf(bus)) ?? '';
  if (key === undefined) return `${id} ${server}`;
  const otherBanners = Object.entries(banners).filter(([other]) => other !== key);
  const latest = [...otherBanners, [key, { id, server }] as const];
  ensureFolder(dirname(path));
  replaceFile(path, JSON.stringify(Object.fromEntries(latest.slice(-MAX_BANNERS))));
  return `${id} ${server}`;
}

/**
 * Identifies the running notification service; undefined if none is running. Notification ids are valid only
 * for the service that assigned them.
 */
async function serverOf(bus: Bus): Promise<string | undefined> {
  try {
    const [owner] = await bus.call({ ...BUS, member: 'GetNameOwner', signature: 's', body: [NAME] });
    const [id] = await bus.call({ ...BUS, member: 'GetId' });
    return `${String(id)} ${String(owner)}`;
  } catch (error) {
    if (isAbsentService(error)) return undefined;
    throw error;
  }
}

/** Returns the stored notification ids by hashed dedupe key, oldest first. */
function readBanners(path: string): Record<string, { id: number; server: string }> {
  const stored = readObject(path, 64 * 1024) ?? {};
  const banners = Object.entries(stored as ReturnType<typeof readBanners>);
  return Object.fromEntries(banners.filter(([, banner]) => Number.isInteger(banner?.id)));
}
