import { StewardError } from '../../errors';
import { userId } from '../../platform/files/system-files';
import { READ_TIMEOUT_MS, type Desktop } from '../front-app/adapter';
import type { Idle, IdleAdapter } from './adapter';

/** macOS: the HID system's idle time, and the lock state of the session on the console, by `ioreg`. */
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

/** `"HIDIdleTime" = 4171250` in nanoseconds. */
export function parseHid(text: string): Idle {
  const found = /"HIDIdleTime"\s*=\s*(\d+)/.exec(text)?.[1];
  return found === undefined ? {} : { idleMs: Number(found) / 1e6 };
}

/**
 * `IOConsoleUsers` has a dictionary for each logged-in user. Locked when ours says so, or is not the one on
 * the console (fast user switching); a dictionary without the key is one that is not locked.
 */
export function parseConsole(text: string, uid: number): Idle {
  const users = /"IOConsoleUsers"\s*=\s*\((.*)/.exec(text)?.[1];
  const own = users?.match(/\{[^{}]*\}/g)?.find((user) => numberOf(user, 'kCGSSessionUserIDKey') === uid);
  if (own === undefined) return {};
  return { locked: isYes(own, 'CGSSessionScreenIsLocked') || !isYes(own, 'kCGSSessionOnConsoleKey') };
}

function numberOf(dictionary: string, key: string): number | undefined {
  const found = new RegExp(`"${key}"\\s*=\\s*(\\d+)`).exec(dictionary)?.[1];
  return found === undefined ? undefined : Number(found);
}

function isYes(dictionary: string, key: string): boolean {
  return new RegExp(`"${key}"\\s*=\\s*Yes`).test(dictionary);
}
