import { isBusError, systemBusAddress, withBus, type Bus } from '../../platform/desktop/bus';
import { systemClock } from '../../platform/time/clock';
import { userId } from '../../platform/files/system-files';
import { READ_TIMEOUT_MS, envOf } from '../front-app/adapter';
import type { Idle, IdleAdapter } from './adapter';

const LOGIND = 'org.freedesktop.login1';
const MANAGER = { destination: LOGIND, path: '/org/freedesktop/login1' };
const SESSION = 'org.freedesktop.login1.Session';

/**
 * The hints that the desktop gives logind about this session: locked or not, and since when it is idle. A
 * session that is not marked idle says nothing of the last minutes, so `idleMs` is then left out.
 */
export const logind: IdleAdapter = {
  id: 'logind',
  detect: (desktop) => desktop.platform === 'linux',
  read: (desktop) =>
    withBus({ address: systemBusAddress(desktop.env), timeoutMs: READ_TIMEOUT_MS }, async (bus) => {
      try {
        return await askSession(bus, envOf(desktop, 'XDG_SESSION_ID'));
      } catch (error) {
        if (isBusError(error) && NOTHING_TO_SAY.has(error.type)) return {};
        throw error;
      }
    }),
};

/** No logind, or no session (any more): it says nothing then, which is no fault. */
const NOTHING_TO_SAY = new Set([
  'org.freedesktop.DBus.Error.ServiceUnknown',
  'org.freedesktop.DBus.Error.NameHasNoOwner',
  'org.freedesktop.DBus.Error.UnknownObject',
  'org.freedesktop.DBus.Error.UnknownMethod',
  'org.freedesktop.login1.NoSuchSession',
  'org.freedesktop.login1.NoSuchUser',
]);

async function askSession(bus: Bus, id: string | undefined): Promise<Idle> {
  const path = await sessionPath(bus, id);
  if (path === undefined) return {};
  const session = { destination: LOGIND, path };
  const [locked, idle, since] = await Promise.all([
    bus.property(session, SESSION, 'LockedHint'),
    bus.property(session, SESSION, 'IdleHint'),
    bus.property(session, SESSION, 'IdleSinceHint'),
  ]);
  return readHints({ locked, idle, since }, systemClock().now());
}

/** `since` is in microseconds of the wall clock; 0, or later than now, says nothing. */
export function readHints(hints: { locked: unknown; idle: unknown; since: unknown }, nowMs: number): Idle {
  const sinceMs =
    typeof hints.since === 'bigint' || typeof hints.since === 'number' ? Number(hints.since) / 1000 : 0;
  return {
    ...(typeof hints.locked === 'boolean' ? { locked: hints.locked } : {}),
    ...(hints.idle === true && sinceMs > 0 && sinceMs <= nowMs ? { idleMs: nowMs - sinceMs } : {}),
  };
}

/** The session by its id; a job of the user's manager is in no session: there, the user's graphical one. */
async function sessionPath(bus: Bus, id: string | undefined): Promise<string | undefined> {
  const manager = { ...MANAGER, interface: 'org.freedesktop.login1.Manager' };
  if (id !== undefined) {
    const [path] = await bus.call({ ...manager, member: 'GetSession', signature: 's', body: [id] });
    return typeof path === 'string' ? path : undefined;
  }
  const [user] = await bus.call({ ...manager, member: 'GetUser', signature: 'u', body: [userId()] });
  if (typeof user !== 'string') return undefined;
  const object = { destination: LOGIND, path: user };
  const display = await bus.property(object, 'org.freedesktop.login1.User', 'Display');
  const path: unknown = Array.isArray(display) ? display[1] : undefined;
  return typeof path === 'string' && path !== '/' ? path : undefined;
}
