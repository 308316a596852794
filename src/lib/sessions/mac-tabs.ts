import { StewardError } from '../errors';
import type { TabDeps, TabProgram } from './tab';

/** An application of macOS that shows terminals, in words of AppleScript. */
interface MacApp {
  id: string;
  name: string;
  /** The name of its process. */
  process: string;
  /** The loop over the terminals of the tab `t`, and the terminal's device and id in it. */
  each: string;
  tty: string;
  key: string;
  /** Statements that show the terminal. The window comes last, because it changes the order of the windows. */
  show: readonly string[];
}

const APPS: readonly MacApp[] = [
  {
    id: 'iterm2',
    name: 'iTerm2',
    process: 'iTerm2',
    each: 'repeat with s in sessions of t',
    tty: 'tty of s',
    key: 'id of s',
    show: ['select s', 'select t', 'select (first window whose id is windowId)'],
  },
  {
    id: 'terminal',
    name: 'Terminal',
    process: 'Terminal',
    each: 'repeat 1 times',
    tty: 'tty of t',
    key: 'windowId',
    show: ['set selected of t to true', 'set index of (first window whose id is windowId) to 1'],
  },
  {
    id: 'ghostty',
    name: 'Ghostty',
    process: 'ghostty',
    each: 'repeat with s in terminals of t',
    tty: 'tty of s',
    key: 'id of s',
    show: ['focus s', 'activate window (first window whose id is windowId)'],
  },
];

/** The programs that are asked by AppleScript. The first question makes macOS ask you for a permission. */
export const macPrograms: readonly TabProgram[] = APPS.map((app) => ({
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
  return `on run argv
if application "${name}" is not running then return ""
set found to ""
tell application "${name}"
repeat with w in windows
set windowId to id of w
repeat with t in tabs of w
${each}
set entry to ((${key}) as text) & (character id 9) & (${tty})
if argv is {entry} then
${show.join('\n')}
activate
return "${SHOWN}"
end if
set found to found & entry & (character id 10)
end repeat
end repeat
end repeat
end tell
return found
end run`;
}
