import { isBusError, sessionBusAddress, withBus, type Bus } from '../../platform/desktop/bus';
import { READ_TIMEOUT_MS, isWayland, x11Display, type Desktop } from '../front-app/adapter';
import type { IdleAdapter } from './adapter';

/** GNOME's compositor, which counts input of its own, in Wayland and X11 sessions. */
export const mutterIdle: IdleAdapter = {
  id: 'mutter',
  detect: hasSession,
  read: (desktop) =>
    onSessionBus(desktop, async (bus) => {
      const names = await namesOn(bus);
      if (!names.has('org.gnome.Mutter.IdleMonitor')) return {};
      const [idle] = await bus.call({
        destination: 'org.gnome.Mutter.IdleMonitor',
        path: '/org/gnome/Mutter/IdleMonitor/Core',
        interface: 'org.gnome.Mutter.IdleMonitor',
        member: 'GetIdletime',
      });
      return typeof idle === 'bigint' || typeof idle === 'number' ? { idleMs: Number(idle) } : {};
    }),
};

/** The lockers that answer GetActive over the session bus, with their objects. */
const LOCKERS = [
  ['org.gnome.ScreenSaver', '/org/gnome/ScreenSaver'],
  ['org.freedesktop.ScreenSaver', '/org/freedesktop/ScreenSaver'],
  ['org.cinnamon.ScreenSaver', '/org/cinnamon/ScreenSaver'],
  ['org.mate.ScreenSaver', '/org/mate/ScreenSaver'],
  ['org.xfce.ScreenSaver', '/org/xfce/ScreenSaver'],
] as const;

/** The screen savers and lockers of GNOME, KDE (under the common name), Cinnamon, MATE and Xfce. */
export const screensaverLock: IdleAdapter = {
  id: 'screensaver',
  detect: hasSession,
  read: (desktop) =>
    onSessionBus(desktop, async (bus) => {
      const names = await namesOn(bus);
      const answers = await Promise.all(
        LOCKERS.filter(([name]) => names.has(name)).map(([name, path]) => isActive(bus, name, path)),
      );
      const known = answers.filter((answer) => answer !== undefined);
      return known.length === 0 ? {} : { locked: known.includes(true) };
    }),
};

/** The common name is often taken by a service that only holds off the saver: it has no GetActive. */
async function isActive(bus: Bus, name: string, path: string): Promise<boolean | undefined> {
  try {
    const [active] = await bus.call({ destination: name, path, interface: name, member: 'GetActive' });
    return typeof active === 'boolean' ? active : undefined;
  } catch (error) {
    if (isBusError(error)) return undefined;
    throw error;
  }
}

function hasSession(desktop: Desktop): boolean {
  const isGraphical = x11Display(desktop) !== undefined || isWayland(desktop);
  return isGraphical && sessionBusAddress(desktop.env) !== undefined;
}

function onSessionBus<T>(desktop: Desktop, use: (bus: Bus) => Promise<T>): Promise<T> {
  return withBus({ address: sessionBusAddress(desktop.env) ?? '', timeoutMs: READ_TIMEOUT_MS }, use);
}

async function namesOn(bus: Bus): Promise<Set<unknown>> {
  const [names] = await bus.call({
    destination: 'org.freedesktop.DBus',
    path: '/org/freedesktop/DBus',
    interface: 'org.freedesktop.DBus',
    member: 'ListNames',
  });
  return new Set(Array.isArray(names) ? names : []);
}
