import SCRIPTS from '../../../templates/data/desktop-scripts.json';
import { StewardError, throwIfBug, undefinedIf } from '../errors';
import { isBusError, sessionBusAddress, systemBusAddress, withBus, type Bus } from '../platform/desktop/bus';
import { userId } from '../platform/files/system-files';
import { askPowerShell, windowsCalls } from '../platform/process/windows';
import { systemClock } from '../platform/time/clock';
import { READ_TIMEOUT_MS, envOf, isWayland, onX11, x11Display, type Desktop } from './front-app/adapter';
import { terminal } from './front-app/terminal';

/** The idle time and lock state. Unknown values are absent. */
export interface Idle {
  /** Milliseconds since the last input. */
  idleMs?: number;
  locked?: boolean;
}

export interface IdleAdapter {
  /** One of x11, mutter, screensaver, logind, macos, windows or terminal. */
  id: string;
  detect(desktop: Desktop): boolean;
  /**
   * Reads the idle time and lock state. Throws `unavailable` if the desktop is detected but can't be read.
   */
  read(desktop: Desktop): Promise<Idle>;
}

export type IdleReading = (Idle & { via: string }) | { unknown: string };

/** Returns the idle time and the lock state. `via` lists the adapters that succeeded. */
export async function readIdle(
  desktop: Desktop,
  adapters: readonly IdleAdapter[] = IDLE_ADAPTERS,
): Promise<IdleReading> {
  const result: Idle = {};
  const via: string[] = [];
  let failure: StewardError | undefined;
  const detected = adapters.filter((adapter) => adapter.detect(desktop));
  const answers = await Promise.allSettled(detected.map((adapter) => adapter.read(desktop)));
  for (const [index, answer] of answers.entries()) {
    if (answer.status === 'rejected') {
      const error = throwIfBug(answer.reason);
      failure ??= error;
      continue;
    }
    const { idleMs, locked } = answer.value;
    if (idleMs === undefined && locked === undefined) continue;
    via.push(detected[index]?.id ?? '');
    if (idleMs !== undefined) result.idleMs ??= idleMs;
    if (locked !== undefined) result.locked = result.locked === true || locked;
  }
  if (via.length > 0) return { ...result, via: via.join('+') };
  return { unknown: failure?.message ?? 'This desktop does not report the time since the last input.' };
}

/** Reads the X server's idle time. */
export const x11Idle: IdleAdapter = {
  id: 'x11',
  detect: (desktop) => x11Display(desktop) !== undefined,
  read: async (desktop) => ({ idleMs: await onX11(desktop, (x) => x.idleMs()) }),
};

/** Reads the idle time from GNOME's compositor, in Wayland and X11 sessions. */
export const mutterIdle: IdleAdapter = {
  id: 'mutter',
  detect: hasSession,
  read: (desktop) =>
    withSessionBus(desktop, async (bus, names) => {
      const name = 'org.gnome.Mutter.IdleMonitor';
      if (!names.has(name)) return {};
      const core = { destination: name, path: '/org/gnome/Mutter/IdleMonitor/Core', interface: name };
      const [idle] = await bus.call({ ...core, member: 'GetIdletime' });
      return typeof idle === 'number' ? { idleMs: idle } : {};
    }),
};

/** The vendor parts of the screen savers' D-Bus names. KDE's screen saver uses `freedesktop`. */
const LOCKERS = ['gnome', 'freedesktop', 'cinnamon', 'mate', 'xfce'];

export const screensaverLock: IdleAdapter = {
  id: 'screensaver',
  detect: hasSession,
  read: (desktop) =>
    withSessionBus(desktop, async (bus, names) => {
      const running = LOCKERS.map((maker) => `org.${maker}.ScreenSaver`).filter((name) => names.has(name));
      const answers = await Promise.all(running.map((name) => isActive(bus, name)));
      const known = answers.filter((answer) => answer !== undefined);
      return known.length === 0 ? {} : { locked: known.includes(true) };
    }),
};

/**
 * Returns whether the screen saver is active, or undefined if the service can only inhibit the screen saver.
 */
async function isActive(bus: Bus, name: string): Promise<boolean | undefined> {
  const call = { destination: name, path: `/${name.replaceAll('.', '/')}`, interface: name };
  const answer = await bus.call({ ...call, member: 'GetActive' }).catch(undefinedIf(isBusError));
  return typeof answer?.[0] === 'boolean' ? answer[0] : undefined;
}

function hasSession(desktop: Desktop): boolean {
  const isGraphical = x11Display(desktop) !== undefined || isWayland(desktop);
  return isGraphical && sessionBusAddress(desktop.env) !== undefined;
}

function withSessionBus(desktop: Desktop, use: (bus: Bus, names: ReadonlySet<unknown>) => Promise<Idle>) {
  const address = sessionBusAddress(desktop.env) ?? '';
  return withBus({ address, timeoutMs: READ_TIMEOUT_MS }, async (bus) => {
    return use(bus, new Set(await bus.names('ListNames')));
  });
}

const LOGIND = 'org.freedesktop.login1';

/** Reads logind's lock and idle hints. Desktops set the idle hint only after several minutes. */
export const logind: IdleAdapter = {
  id: 'logind',
  detect: (desktop) => desktop.platform === 'linux',
  read: (desktop) =>
    withBus({ address: systemBusAddress(desktop.env), timeoutMs: READ_TIMEOUT_MS }, async (bus) => {
      try {
        const path = await sessionPath(bus, envOf(desktop, 'XDG_SESSION_ID'));
        return path === undefined ? {} : await askSession(bus, path);
      } catch (error) {
        if (isBusError(error) && NO_SESSION.test(error.type)) return {};
        throw error;
      }
    }),
};

/** D-Bus errors that mean that logind or the session doesn't exist. These aren't failures. */
const NO_SESSION =
  /^org\.freedesktop\.(DBus\.Error\.(ServiceUnknown|NameHasNoOwner|UnknownObject|UnknownMethod)|login1\.NoSuch(Session|User))$/;

async function askSession(bus: Bus, path: string): Promise<Idle> {
  const hint = (name: string): Promise<unknown> =>
    bus.property({ destination: LOGIND, path }, `${LOGIND}.Session`, name);
  const [locked, idle, since] = await Promise.all(['LockedHint', 'IdleHint', 'IdleSinceHint'].map(hint));
  return readHints({ locked, idle, since }, systemClock().now());
}

/** Parses logind's hints. Ignores a `since` (in µs) that is 0 or in the future. */
export function readHints(hints: { locked: unknown; idle: unknown; since: unknown }, nowMs: number): Idle {
  const { locked, idle, since } = hints;
  const sinceMs = typeof since === 'number' ? since / 1000 : 0;
  return {
    ...(typeof locked === 'boolean' ? { locked } : {}),
    ...(idle === true && sinceMs > 0 && sinceMs <= nowMs ? { idleMs: nowMs - sinceMs } : {}),
  };
}

/** Returns the path of the session with this id. Without an id, returns the user's graphical session. */
async function sessionPath(bus: Bus, id: string | undefined): Promise<string | undefined> {
  const manager = { destination: LOGIND, path: '/org/freedesktop/login1', interface: `${LOGIND}.Manager` };
  if (id !== undefined) {
    const [path] = await bus.call({ ...manager, member: 'GetSession', signature: 's', body: [id] });
    return typeof path === 'string' ? path : undefined;
  }
  const [user] = await bus.call({ ...manager, member: 'GetUser', signature: 'u', body: [userId()] });
  if (typeof user !== 'string') return undefined;
  const display = await bus.property({ destination: LOGIND, path: user }, `${LOGIND}.User`, 'Display');
  const path: unknown = Array.isArray(display) ? display[1] : undefined;
  return typeof path === 'string' && path !== '/' ? path : undefined;
}

/** Reads the idle time and the console session's lock state from `ioreg` on macOS. */
export const macosIdle: IdleAdapter = {
  id: 'macos',
  detect: (desktop) => desktop.platform === 'darwin',
  async read(desktop) {
    const [hid, root] = await Promise.all([
      ioreg(desktop, ['-r', '-d', '1', '-c', 'IOHIDSystem']),
      ioreg(desktop, ['-n', 'Root', '-d', '1', '-w', '0']),
    ]);
    return { ...parseHid(hid), ...parseConsole(root, userId()) };
  },
};

async function ioreg(desktop: Desktop, args: string[]): Promise<string> {
  const { code, stdout } = await desktop.run('/usr/sbin/ioreg', args, { timeoutMs: READ_TIMEOUT_MS });
  if (code === 0) return stdout;
  throw new StewardError('unavailable', `ioreg failed with code ${code}.`, {
    hint: 'Check that /usr/sbin/ioreg runs in this session.',
  });
}

/** Parses `"HIDIdleTime" = 4171250` (nanoseconds). */
function parseHid(text: string): Idle {
  const found = /"HIDIdleTime"\s*=\s*(\d+)/.exec(text)?.[1];
  return found === undefined ? {} : { idleMs: Number(found) / 1e6 };
}

/**
 * Returns the lock state from `IOConsoleUsers`. A session counts as locked while another user is on the
 * console.
 */
function parseConsole(text: string, uid: number): Idle {
  const users = /"IOConsoleUsers"\s*=\s*\((.*)/.exec(text)?.[1];
  const valueIn = (user: string, key: string): string | undefined =>
    new RegExp(`"${key}"\\s*=\\s*(\\w+)`).exec(user)?.[1];
  const own = users
    ?.match(/\{[^{}]*\}/g)
    ?.find((user) => Number(valueIn(user, 'kCGSSessionUserIDKey') ?? NaN) === uid);
  if (own === undefined) return {};
  const isLocked = valueIn(own, 'CGSSessionScreenIsLocked') === 'Yes';
  return { locked: isLocked || valueIn(own, 'kCGSSessionOnConsoleKey') !== 'Yes' };
}

/** Reads the idle time and lock state on Windows. */
export const windowsIdle: IdleAdapter = {
  id: 'windows',
  detect: (desktop) => desktop.platform === 'win32',
  async read(desktop) {
    const calls = await windowsCalls();
    if (calls !== undefined) return { idleMs: calls.idleMs(), locked: calls.locked() };
    const { idleMs, locked } = await askPowerShell(desktop.run, SCRIPTS.windowsIdle);
    return {
      ...(typeof idleMs === 'number' ? { idleMs } : {}),
      ...(typeof locked === 'boolean' ? { locked } : {}),
    };
  },
};

/** Reads the time since your last input at a terminal, where there is no desktop. */
const terminalIdle: IdleAdapter = {
  id: 'terminal',
  detect: (desktop) => terminal.detect(desktop),
  async read(desktop) {
    const input = await desktop.terminals?.();
    return input === undefined ? {} : { idleMs: Math.max(0, systemClock().now() - input.atMs) };
  },
};

/** Adapters that measure input come first, because the other adapters only report idle hints. */
export const IDLE_ADAPTERS: readonly IdleAdapter[] = [
  mutterIdle,
  x11Idle,
  screensaverLock,
  terminalIdle,
  logind,
  macosIdle,
  windowsIdle,
];
