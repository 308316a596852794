import { StewardError } from '../../errors';
import { isAbsentService, isBusError, withBus, type BusError } from '../../platform/desktop/bus';
import { isWaylandOf, parseAnswer, sessionBus, type FrontAppAdapter } from './adapter';
import { nameWindow } from './desktop-entries';

const EXTENSION = 'The GNOME extension "Focused Window D-Bus"';
const UPDATE = 'Update the extension, or log out and back in.';
const FIELDS = ['', 'wm_class', 'wm_class_instance', 'pid'];

/** The adapter for GNOME on Wayland. Requires the extension "Focused Window D-Bus". */
export const gnome: FrontAppAdapter = {
  id: 'gnome',
  detect: (desktop) => isWaylandOf(desktop, 'GNOME'),
  async read(desktop) {
    const answer = await withBus(sessionBus(desktop, 'GNOME'), async (bus) => {
      try {
        const [text] = await bus.call({
          destination: 'org.gnome.Shell',
          path: '/org/gnome/shell/extensions/FocusedWindow',
          interface: 'org.gnome.shell.extensions.FocusedWindow',
          member: 'Get',
        });
        return String(text);
      } catch (error) {
        if (isBusError(error)) return answerOf(error);
        throw error;
      }
    });
    const window = parseAnswer(answer, (key) => FIELDS.includes(key), { from: EXTENSION, hint: UPDATE });
    return nameWindow(desktop, [window?.['wm_class'], window?.['wm_class_instance']], window?.['pid']);
  },
};

/** Older versions of the extension report an error if no window has the focus. */
function answerOf(error: BusError): string {
  if (/no window in focus/i.test(error.message)) return '{}';
  if (/^org\.freedesktop\.DBus\.Error\.Unknown(?:Object|Method|Interface)$/.test(error.type)) {
    throw new StewardError('not_found', 'GNOME on Wayland does not report which application has the focus.', {
      hint: 'Install the GNOME extension "Focused Window D-Bus" (extensions.gnome.org), then log out and back in.',
      cause: error,
    });
  }
  if (isAbsentService(error)) throw error;
  // Report only the error type, because the message may contain a window title.
  throw new StewardError('unavailable', `${EXTENSION} failed (${error.type}).`, { hint: UPDATE });
}
