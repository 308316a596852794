import { StewardError } from '../../errors';
import { sessionBusAddress, withBus, type Bus } from '../../platform/desktop/bus';
import { withTempFile } from '../../platform/files/system-files';
import {
  READ_TIMEOUT_MS,
  isDesktop,
  isWayland,
  type FrontApp,
  type Desktop,
  type FrontAppAdapter,
} from './adapter';
import { nameWindow } from './desktop-entries';

const KWIN = 'org.kde.KWin';
const OUR_INTERFACE = 'io.github.steward.FrontApp';

/** KWin (Plasma 5 and 6): a script that runs inside of it tells the active window's names. */
export const kwin: FrontAppAdapter = {
  id: 'kwin',
  detect: (desktop) => isDesktop(desktop, 'KDE') && isWayland(desktop),
  async read(desktop) {
    const address = sessionBusAddress(desktop.env);
    if (address === undefined) {
      throw new StewardError(
        'unavailable',
        'KWin can be asked over the session bus only, and there is none.',
        {
          hint: 'A job must run inside the session, with its DBUS_SESSION_BUS_ADDRESS.',
        },
      );
    }
    const words = await withBus({ address, timeoutMs: READ_TIMEOUT_MS }, askKwin);
    return parseKwin(desktop, words);
  },
};

async function askKwin(bus: Bus): Promise<unknown[]> {
  const told = bus.called(OUR_INTERFACE, 'Front');
  // The name of a script must be new: KWin refuses one that is loaded (left by a killed capture).
  const name = `steward-front-app-${bus.name.replace(/\D/g, '-')}`;
  return withTempFile('front-app.js', kwinScript(bus.name), async (path) => {
    const scripting = { destination: KWIN, path: '/Scripting', interface: 'org.kde.kwin.Scripting' };
    const [id] = await bus.call({ ...scripting, member: 'loadScript', signature: 'ss', body: [path, name] });
    if (typeof id !== 'number' || id < 0) {
      throw new StewardError('unavailable', 'KWin did not load the script that asks for the active window.');
    }
    try {
      await runScript(bus, id);
      return await told;
    } finally {
      await bus.call({ ...scripting, member: 'unloadScript', signature: 's', body: [name] });
    }
  });
}

/** Plasma 6 has the script at /Scripting/Script<id>, Plasma 5 at /<id>. */
async function runScript(bus: Bus, id: number): Promise<void> {
  const script = { destination: KWIN, interface: 'org.kde.kwin.Script', member: 'run' };
  try {
    await bus.call({ ...script, path: `/Scripting/Script${id}` });
  } catch (error) {
    if (!(error instanceof StewardError) || !('type' in error)) throw error;
    await bus.call({ ...script, path: `/${id}` });
  }
}

/** Plasma 6 renamed activeClient to activeWindow. The desktop itself and panels are not applications. */
function kwinScript(receiver: string): string {
  return `
const w = workspace.activeWindow || workspace.activeClient;
const app = w && !w.desktopWindow && !w.dock;
callDBus('${receiver}', '/', '${OUR_INTERFACE}', 'Front',
  app ? String(w.desktopFileName || '') : '', app ? String(w.resourceClass || '') : '',
  app ? String(w.resourceName || '') : '', app ? Number(w.pid || 0) : -1);
`;
}

/** desktopFileName, resourceClass, resourceName, pid; pid -1 when no application is active. */
export function parseKwin(desktop: Pick<Desktop, 'env'>, words: readonly unknown[]): FrontApp | null {
  const [file, name, instance, pid] = words;
  if (
    typeof file !== 'string' ||
    typeof name !== 'string' ||
    typeof instance !== 'string' ||
    typeof pid !== 'number'
  ) {
    throw new StewardError('unavailable', 'KWin told something else than the names of a window.');
  }
  if (pid === -1) return null;
  return nameWindow(desktop, { ids: [file.replace(/^.*\/|\.desktop$/g, ''), name, instance], pid });
}
