import SCRIPTS from '../../../../templates/data/desktop-scripts.json';
import { StewardError } from '../../errors';
import { isBusError, withBus, type Bus } from '../../platform/desktop/bus';
import { filled } from '../../platform/files/template';
import { withTempFile } from '../../platform/files/system-files';
import { isWaylandOf, sessionBus, type FrontAppAdapter } from './adapter';
import { nameWindow } from './desktop-entries';

const KWIN = 'org.kde.KWin';
const OUR_INTERFACE = 'io.github.steward.FrontApp';

/** The adapter for KWin (Plasma 5 and 6). A script inside KWin reports the active window's names. */
export const kwin: FrontAppAdapter = {
  id: 'kwin',
  detect: (desktop) => isWaylandOf(desktop, 'KDE'),
  async read(desktop) {
    const [file, windowClass, instance, pid] = await withBus(sessionBus(desktop, 'KWin'), askKwin);
    if (typeof file !== 'string' || typeof pid !== 'number') {
      throw new StewardError('unavailable', 'KWin returned an unexpected response.', {
        hint: 'Log out and back in. If that does not help, report the problem and include your Plasma version.',
      });
    }
    if (pid === -1) return null;
    return nameWindow(desktop, [file.replace(/^.*\/|\.desktop$/g, ''), windowClass, instance], pid);
  },
};

async function askKwin(bus: Bus): Promise<unknown[]> {
  // For Plasma 5 and 6: Plasma 6 renamed `activeClient` to `activeWindow`.
  const script = filled(SCRIPTS.kwinFront.join('\n'), { RECEIVER: bus.name, INTERFACE: OUR_INTERFACE });
  const answer = bus.called('/', OUR_INTERFACE, 'Front');
  // The script's name must be unique, because a killed capture may leave its script loaded.
  const name = `steward-front-app-${bus.name.replace(/\D/g, '-')}`;
  return withTempFile('front-app.js', script, async (path) => {
    const scripting = { destination: KWIN, path: '/Scripting', interface: 'org.kde.kwin.Scripting' };
    const [id] = await bus.call({ ...scripting, member: 'loadScript', signature: 'ss', body: [path, name] });
    if (typeof id !== 'number' || id < 0) {
      throw new StewardError('unavailable', 'KWin did not load the script that reads the active window.', {
        hint: 'Log out and back in.',
      });
    }
    try {
      await runScript(bus, id);
      return await answer;
    } finally {
      await bus.call({ ...scripting, member: 'unloadScript', signature: 's', body: [name] });
    }
  });
}

/** The script's path is /Scripting/Script<id> in Plasma 6, and /<id> in Plasma 5. */
async function runScript(bus: Bus, id: number): Promise<void> {
  const script = { destination: KWIN, interface: 'org.kde.kwin.Script', member: 'run' };
  try {
    await bus.call({ ...script, path: `/Scripting/Script${id}` });
  } catch (error) {
    if (!isBusError(error)) throw error;
    await bus.call({ ...script, path: `/${id}` });
  }
}
