import { StewardError } from '../../errors';
import { isObject } from '../../platform/files/json-object';
import {
  READ_TIMEOUT_MS,
  envOf,
  isWayland,
  isXdgSystem,
  parseAnswer,
  type Desktop,
  type FrontApp,
  type FrontAppAdapter,
} from './adapter';
import { nameWindow } from './desktop-entries';

type Answer = Readonly<Record<string, unknown>> | undefined;

/** A window manager with a command-line tool that prints its windows as JSON. */
interface Tool {
  id: string;
  /** The variable that the window manager sets; its tool uses it to find the socket. */
  variable: string;
  program: string;
  args: string[];
  detect: (desktop: Desktop) => boolean;
  isAllowed: (key: string) => boolean;
  window: (desktop: Desktop, answer: Answer) => FrontApp | null;
}

function toolAdapter({ id, variable, program, args, detect, isAllowed, window }: Tool): FrontAppAdapter {
  return {
    id,
    detect: (desktop) => envOf(desktop, variable) !== undefined && detect(desktop),
    async read(desktop) {
      const options = { env: desktop.env, timeoutMs: READ_TIMEOUT_MS };
      const { code, stdout } = await desktop.run(program, args, options);
      if (code !== 0) {
        throw new StewardError('unavailable', `${program} cannot reach ${id}.`, {
          hint: `Run the capture inside the session, with its ${variable} and XDG_RUNTIME_DIR.`,
        });
      }
      // Old versions of hyprctl print "Invalid" when nothing has the focus.
      if (stdout.trim() === 'Invalid') return null;
      const hint = `Check that "${[program, ...args].join(' ')}" prints JSON.`;
      return window(desktop, parseAnswer(stdout, isAllowed, { from: program, hint }));
    },
  };
}

const TITLES = ['name', 'title', 'window_title', 'marks', 'title_format'];
const TREE = {
  args: ['-t', 'get_tree'],
  isAllowed: (key: string) => !TITLES.includes(key),
  window: (desktop: Desktop, tree: Answer) => focusedWindow(desktop, tree),
};

export const sway = toolAdapter({
  ...{ id: 'sway', variable: 'SWAYSOCK', program: 'swaymsg' },
  detect: isXdgSystem,
  ...TREE,
});

/** sway sets I3SOCK too, so this one is for X11 only. */
export const i3 = toolAdapter({
  ...{ id: 'i3', variable: 'I3SOCK', program: 'i3-msg' },
  detect: (desktop) => isXdgSystem(desktop) && !isWayland(desktop),
  ...TREE,
});

const FIELDS = ['', 'class', 'initialClass', 'pid'];

export const hyprland = toolAdapter({
  ...{ id: 'hyprland', variable: 'HYPRLAND_INSTANCE_SIGNATURE', program: 'hyprctl' },
  args: ['activewindow', '-j'],
  detect: isXdgSystem,
  isAllowed: (key) => FIELDS.includes(key),
  window: (desktop, found) =>
    nameWindow(desktop, [found?.['class'], found?.['initialClass']], found?.['pid']),
});

/** Returns the focused window of a tree; null when a workspace or container has the focus. */
function focusedWindow(desktop: Desktop, tree: unknown): FrontApp | null {
  const queue: unknown[] = [tree];
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    if (!isObject(node)) continue;
    const { focused, pid, app_id, window, window_properties, nodes, floating_nodes } = node;
    if (focused === true) {
      const x11 = isObject(window_properties) ? window_properties : {};
      // Without a name, only what has a pid or an X11 window id is a window.
      const process = typeof pid === 'number' ? pid : typeof window === 'number' ? 0 : undefined;
      return nameWindow(desktop, [app_id, x11['class'], x11['instance']], process);
    }
    for (const children of [nodes, floating_nodes])
      if (Array.isArray(children)) for (const child of children as unknown[]) queue.push(child);
  }
  return null;
}
