import { join } from 'node:path';

import { StewardError } from '../../errors';
import { isObject } from '../../platform/files/json-object';
import { listenTo } from '../../platform/net/local-socket';
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

interface Tool {
  id: string;
  /** The environment variable that identifies the window manager's socket. */
  variable: string;
  program: string;
  args: string[];
  detect: (desktop: Desktop) => boolean;
  isAllowed: (key: string) => boolean;
  window: (desktop: Desktop, answer: Answer) => FrontApp | null;
  watch: NonNullable<FrontAppAdapter['watch']>;
}

function toolAdapter(tool: Tool): FrontAppAdapter {
  const { id, variable, program, args, detect, isAllowed, window, watch } = tool;
  return {
    id,
    watch,
    detect: (desktop) => envOf(desktop, variable) !== undefined && detect(desktop),
    async read(desktop) {
      const options = { env: desktop.env, timeoutMs: READ_TIMEOUT_MS };
      const { code, stdout } = await desktop.run(program, args, options);
      if (code !== 0) {
        throw new StewardError('unavailable', `${program} cannot reach ${id}.`, {
          hint: `Run the capture in the desktop session, where ${variable} and XDG_RUNTIME_DIR are set.`,
        });
      }
      // Old versions of hyprctl print "Invalid" if no window has the focus.
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
  id: 'sway',
  variable: 'SWAYSOCK',
  program: 'swaymsg',
  detect: isXdgSystem,
  watch: (desktop, ...rest) => watchTree(envOf(desktop, 'SWAYSOCK'), ...rest),
  ...TREE,
});

/** The adapter for i3. Detected only on X11, because sway also sets I3SOCK. */
export const i3 = toolAdapter({
  id: 'i3',
  variable: 'I3SOCK',
  program: 'i3-msg',
  detect: (desktop) => isXdgSystem(desktop) && !isWayland(desktop),
  watch: (desktop, ...rest) => watchTree(envOf(desktop, 'I3SOCK'), ...rest),
  ...TREE,
});

const FIELDS = ['', 'class', 'initialClass', 'pid'];

export const hyprland = toolAdapter({
  id: 'hyprland',
  variable: 'HYPRLAND_INSTANCE_SIGNATURE',
  program: 'hyprctl',
  args: ['activewindow', '-j'],
  detect: isXdgSystem,
  watch: watchHyprland,
  isAllowed: (key) => FIELDS.includes(key),
  window: (desktop, window) =>
    nameWindow(desktop, [window?.['class'], window?.['initialClass']], window?.['pid']),
});

const MAGIC = 'i3-ipc';
const HEADER_BYTES = MAGIC.length + 8;
const SUBSCRIBE = 2;
const MAX_EVENT_BYTES = 4 * 1024 * 1024;
/** Number of bytes to decode per event. These bytes contain the change type, but not the window title. */
const CHANGE_BYTES = 40;

/** Watches the focus over the IPC protocol of i3 and sway. */
function watchTree(path = '', onChange: () => void, signal: AbortSignal): Promise<void> {
  return listenTo({ path, what: 'The window manager', signal }, (send) => {
    const payload = Buffer.from('["window","workspace"]');
    const header = Buffer.alloc(HEADER_BYTES);
    header.write(MAGIC, 'latin1');
    header.writeUInt32LE(payload.length, MAGIC.length);
    header.writeUInt32LE(SUBSCRIBE, MAGIC.length + 4);
    send(Buffer.concat([header, payload]));
    let pending: Buffer = Buffer.alloc(0);
    return (chunk) => {
      pending = Buffer.concat([pending, chunk]);
      while (pending.length >= HEADER_BYTES) {
        const size = HEADER_BYTES + pending.readUInt32LE(MAGIC.length);
        if (size > MAX_EVENT_BYTES) throw new RangeError('an event is too long');
        if (pending.length < size) return;
        const start = pending.toString('latin1', HEADER_BYTES, Math.min(size, HEADER_BYTES + CHANGE_BYTES));
        if (/"(?:change": ?"(?:focus|close|init)|success": ?true)/.test(start)) onChange();
        pending = pending.subarray(size);
      }
    };
  });
}

/**
 * Watches Hyprland's event socket for lines such as `activewindowv2>>64cea2525760`. Ignores events that
 * contain window titles.
 */
function watchHyprland(desktop: Desktop, onChange: () => void, signal: AbortSignal): Promise<void> {
  const runtime = envOf(desktop, 'XDG_RUNTIME_DIR') ?? '';
  const instance = envOf(desktop, 'HYPRLAND_INSTANCE_SIGNATURE') ?? '';
  const path = join(runtime, 'hypr', instance, '.socket2.sock');
  return listenTo({ path, what: 'Hyprland', signal }, () => {
    let rest = '';
    onChange();
    return (chunk) => {
      const lines = (rest + chunk.toString('latin1')).split('\n');
      rest = (lines.pop() ?? '').slice(0, MAX_LINE);
      if (lines.some((line) => line.startsWith('activewindowv2>>'))) onChange();
    };
  });
}

const MAX_LINE = 64 * 1024;

/** Returns the focused window in the tree, or null if a workspace or container has the focus. */
function focusedWindow(desktop: Desktop, tree: unknown): FrontApp | null {
  const queue: unknown[] = [tree];
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    if (!isObject(node)) continue;
    const { focused, pid, app_id, window, window_properties, nodes, floating_nodes } = node;
    if (focused === true) {
      const x11 = isObject(window_properties) ? window_properties : {};
      // An unnamed node is a window only if it has a pid or an X11 window id.
      const process = typeof pid === 'number' ? pid : typeof window === 'number' ? 0 : undefined;
      return nameWindow(desktop, [app_id, x11['class'], x11['instance']], process);
    }
    for (const children of [nodes, floating_nodes])
      if (Array.isArray(children)) for (const child of children as unknown[]) queue.push(child);
  }
  return null;
}
