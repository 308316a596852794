import { StewardError } from '../../errors';
import { isAbsentService, isBusError, withBus } from '../../platform/desktop/bus';
import {
  isWaylandOf,
  onSessionBus,
  parseAnswer,
  type Desktop,
  type FrontApp,
  type FrontAppAdapter,
} from './adapter';
import { nameAny } from './desktop-entries';

const EXTENSION = 'The extension "Focused Window D-Bus"';
const UPDATE = 'Update the extension, or log in again.';

/** GNOME on Wayland tells nobody which window has the focus; its extension "Focused Window D-Bus" does. */
export const gnome: FrontAppAdapter = {
  id: 'gnome',
  detect: (desktop) => isWaylandOf(desktop, 'GNOME'),
  async read(desktop) {
    const answer = await withBus(onSessionBus(desktop, 'GNOME'), async (bus) => {
      try {
        const [text] = await bus.call({
          destination: 'org.gnome.Shell',
          path: '/org/gnome/shell/extensions/FocusedWindow',
          interface: 'org.gnome.shell.extensions.FocusedWindow',
          member: 'Get',
        });
        return text;
      } catch (error) {
        if (isBusError(error)) return answerOf(error);
        throw error;
      }
    });
    return parseGnome(desktop, answer);
  },
};

/** Older versions of the extension throw when no window has the focus. */
function answerOf(error: StewardError & { type: string }): string {
  if (/no window in focus/i.test(error.message)) return '{}';
  if (/^org\.freedesktop\.DBus\.Error\.Unknown(?:Object|Method|Interface)$/.test(error.type)) {
    throw new StewardError('not_found', 'GNOME on Wayland does not tell which application has the focus.', {
      hint: 'Install the GNOME extension "Focused Window D-Bus" (extensions.gnome.org), and log in again.',
      cause: error,
    });
  }
  if (isAbsentService(error)) throw error;
  // The extension's own message may quote the window: its type is enough.
  throw new StewardError('unavailable', `${EXTENSION} failed (${error.type}).`, { hint: UPDATE });
}

const KEPT = ['', 'wm_class', 'wm_class_instance', 'pid'];

/** The extension's JSON: wm_class, wm_class_instance and pid are kept; `{}` means that nothing has the focus. */
export function parseGnome(desktop: Pick<Desktop, 'env'>, answer: unknown): FrontApp | null {
  const found = parseAnswer(String(answer), (key) => KEPT.includes(key), { who: EXTENSION, hint: UPDATE });
  return nameAny(desktop, [found?.['wm_class'], found?.['wm_class_instance']], found?.['pid']);
}
