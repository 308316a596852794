import { StewardError } from '../../errors';
import { isAbsentService, isBusError, sessionBusAddress, withBus } from '../../platform/desktop/bus';
import {
  READ_TIMEOUT_MS,
  isDesktop,
  isWayland,
  type Desktop,
  type FrontApp,
  type FrontAppAdapter,
} from './adapter';
import { nameWindow } from './desktop-entries';

/**
 * GNOME on Wayland tells nobody which window has the focus; its extension "Focused Window D-Bus" does. Its
 * answer holds a title, which is dropped while the answer is parsed.
 */
export const gnome: FrontAppAdapter = {
  id: 'gnome',
  detect: (desktop) => isDesktop(desktop, 'GNOME') && isWayland(desktop),
  async read(desktop) {
    const address = sessionBusAddress(desktop.env);
    if (address === undefined) {
      throw new StewardError(
        'unavailable',
        'GNOME can be asked over the session bus only, and there is none.',
        {
          hint: 'A job must run inside the session, with its DBUS_SESSION_BUS_ADDRESS.',
        },
      );
    }
    const answer = await withBus({ address, timeoutMs: READ_TIMEOUT_MS }, async (bus) => {
      try {
        const [text] = await bus.call({
          destination: 'org.gnome.Shell',
          path: '/org/gnome/shell/extensions/FocusedWindow',
          interface: 'org.gnome.shell.extensions.FocusedWindow',
          member: 'Get',
        });
        return text;
      } catch (error) {
        if (isBusError(error)) return whatItMeans(error);
        throw error;
      }
    });
    return parseGnome(desktop, answer);
  },
};

const NO_EXTENSION = new Set([
  'org.freedesktop.DBus.Error.UnknownObject',
  'org.freedesktop.DBus.Error.UnknownMethod',
  'org.freedesktop.DBus.Error.UnknownInterface',
]);

/** Older versions of the extension throw when no window has the focus. */
function whatItMeans(error: StewardError & { type: string }): string {
  if (/no window in focus/i.test(error.message)) return '{}';
  if (NO_EXTENSION.has(error.type)) {
    throw new StewardError('not_found', 'GNOME on Wayland does not tell which application has the focus.', {
      hint: 'Install the GNOME extension "Focused Window D-Bus" (extensions.gnome.org), and log in again.',
      cause: error,
    });
  }
  if (isAbsentService(error)) throw error;
  // The extension's own message may quote the window: its type is enough.
  throw new StewardError('unavailable', `The extension "Focused Window D-Bus" failed (${error.type}).`, {
    hint: 'Update the extension, or log in again.',
  });
}

const KEPT = new Set(['', 'wm_class', 'wm_class_instance', 'pid']);

/** The extension's JSON: wm_class, wm_class_instance and pid are kept; `{}` means that nothing has the focus. */
export function parseGnome(desktop: Pick<Desktop, 'env'>, answer: unknown): FrontApp | null {
  let value: unknown;
  try {
    value = JSON.parse(String(answer), (key, part: unknown) => (KEPT.has(key) ? part : undefined));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // The parser's message quotes the text, and so perhaps a title: it is not passed on.
    throw new StewardError('unavailable', 'The extension "Focused Window D-Bus" gave no readable answer.', {
      hint: 'Update the extension, or log in again.',
    });
  }
  if (typeof value !== 'object' || value === null) return null;
  const { wm_class, wm_class_instance, pid } = value as Record<string, unknown>;
  const ids = [wm_class, wm_class_instance].filter((id) => typeof id === 'string');
  if (ids.length === 0 && typeof pid !== 'number') return null;
  return nameWindow(desktop, { ids, pid: typeof pid === 'number' ? pid : undefined });
}
