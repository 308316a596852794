import { StewardError } from '../../errors';
import { isBusError, withBus, type Bus } from '../../platform/desktop/bus';
import { withTempFile } from '../../platform/files/system-files';
import { isWaylandOf, onSessionBus, type Desktop, type FrontApp, type FrontAppAdapter } from './adapter';
import { nameWindow } from './desktop-entries';

const KWIN = 'org.kde.KWin';
const OUR_INTERFACE = 'io.github.steward.FrontApp';

/** KWin (Plasma 5 and 6): a script that runs inside of it tells the active window's names. */
export const kwin: FrontAppAdapter = {
  id: 'kwin',
  detect: (desktop) => isWaylandOf(desktop, 'KDE'),
  async read(desktop) {
    return parseKwin(desktop, await withBus(onSessionBus(desktop, 'KWin'), askKwin));
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
    if (!isBusError(error)) throw error;
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
  const pid = words[3];
  const names = words.slice(0, 3).filter((word) => typeof word === 'string');
  if (names.length < 3 || typeof pid !== 'number')
    throw new StewardError('unavailable', 'KWin told something else than the names of a window.');
  if (pid === -1) return null;
  const [file = '', ...classes] = names;
  return nameWindow(desktop, { ids: [file.replace(/^.*\/|\.desktop$/g, ''), ...classes], pid });
}
