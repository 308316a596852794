import DATA from '../../../templates/data/mac-tabs.json';
import { StewardError } from '../errors';
import { filled } from '../platform/files/template';
import type { TabDeps, TabProgram } from './tab';

/**
 * The applications of macOS that show terminals, in words of AppleScript: `each` is the loop over the terminals of
 * the tab `t`, and `show` shows one. The window comes last, because it changes the order of the windows.
 */
type MacApp = (typeof DATA.apps)[number];

/** The programs that are asked by AppleScript. The first question makes macOS ask you for a permission. */
export const macPrograms: readonly TabProgram[] = DATA.apps.map((app) => ({
  id: app.id,
  async list(deps) {
    if (!deps.processes.runs(app.process)) return [];
    const lines = (await tell(deps, app)).split('\n').filter((line) => line.includes('\t'));
    return lines.map((line) => {
      const [target = '', tty] = line.split('\t');
      return { target, tty, focus: async () => (await tell(deps, app, line)).trim() === SHOWN };
    });
  },
}));

const SHOWN = 'shown';
const TIMEOUT_MS = 5000;

/** Lists the terminals, or shows the one that is listed as `wanted`. */
async function tell({ run, env }: TabDeps, app: MacApp, wanted?: string): Promise<string> {
  const args = ['-e', scriptOf(app), ...(wanted === undefined ? [] : [wanted])];
  const { code, stdout, stderr } = await run('osascript', args, { env, timeoutMs: TIMEOUT_MS });
  if (code === 0) return stdout;
  const isDenied = stderr.includes('-1743');
  throw new StewardError('unavailable', `${app.name} doesn't tell which tab has which terminal.`, {
    hint: isDenied
      ? `Allow it in System Settings > Privacy & Security > Automation.`
      : `Update ${app.name}: this version's AppleScript does not tell the devices of its tabs ("tty").`,
  });
}

/** The line is compared where the tab is shown, so a tab that was closed or has another terminal isn't. */
function scriptOf({ name, each, tty, key, show }: MacApp): string {
  const values = { NAME: name, EACH: each, TTY: tty, KEY: key, SHOW: show.join('\n'), SHOWN };
  return filled(DATA.script.join('\n'), values);
}
