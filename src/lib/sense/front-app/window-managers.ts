import { StewardError } from '../../errors';
import { isObject, textOf } from '../../platform/files/json-object';
import { converse } from '../../platform/net/local-socket';
import {
  type Desktop,
  type FrontApp,
  type FrontAppAdapter,
  READ_TIMEOUT_MS,
  envOf,
  isWayland,
  isXdgSystem,
  parseAnswer,
} from './adapter';
import { type WindowFacts, nameAny, nameWindow } from './desktop-entries';

const MAGIC = Buffer.from('i3-ipc');
const HEADER_BYTES = 14;
const GET_TREE = 4;
const MAX_TREE_BYTES = 16 * 1024 * 1024;

/** sway, by its IPC socket. */
export const sway: FrontAppAdapter = treeAdapter('sway', 'SWAYSOCK', isXdgSystem);

/** i3, by the same protocol. sway sets I3SOCK too, so only outside of Wayland. */
export const i3: FrontAppAdapter = treeAdapter(
  'i3',
  'I3SOCK',
  (desktop) => isXdgSystem(desktop) && !isWayland(desktop),
);

function treeAdapter(id: string, variable: string, may: (desktop: Desktop) => boolean): FrontAppAdapter {
  return {
    id,
    detect: (desktop) => envOf(desktop, variable) !== undefined && may(desktop),
    async read(desktop) {
      const tree = await getTree(envOf(desktop, variable) ?? '', `The ${id} IPC socket`);
      const window = focusedWindow(tree);
      return window === null ? null : nameWindow(desktop, window);
    },
  };
}

/** Asks for the tree of windows: `i3-ipc`, length and type in the machine's byte order, then JSON. */
function getTree(path: string, what: string): Promise<unknown> {
  return converse<unknown>({ path, what, timeoutMs: READ_TIMEOUT_MS, maxBytes: MAX_TREE_BYTES }, (send) => {
    const header = Buffer.alloc(HEADER_BYTES);
    MAGIC.copy(header);
    header.writeUInt32LE(GET_TREE, 10);
    send(header);
    let reply: Buffer = Buffer.alloc(0);
    return (chunk) => {
      reply = Buffer.concat([reply, chunk]);
      if (reply.length < HEADER_BYTES) return undefined;
      if (!reply.subarray(0, MAGIC.length).equals(MAGIC)) {
        throw new StewardError('unavailable', `${what} (${path}) does not speak the i3 protocol.`);
      }
      const end = HEADER_BYTES + reply.readUInt32LE(6);
      return reply.length < end ? undefined : parseTree(reply.toString('utf8', HEADER_BYTES, end), what);
    };
  });
}

const TITLES = ['name', 'title', 'window_title', 'marks', 'title_format'];

export function parseTree(text: string, who: string): unknown {
  return parseAnswer(text, (key) => !TITLES.includes(key), { who, hint: 'Update it, or log in again.' });
}

/** The focused window of a tree; null when the focus is on a workspace or container. */
export function focusedWindow(tree: unknown): WindowFacts | null {
  const open: unknown[] = [tree];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (!isObject(node)) continue;
    const { focused, pid: number, app_id, window, window_properties: own, nodes, floating_nodes } = node;
    if (focused === true) {
      const pid = typeof number === 'number' ? number : undefined;
      const names = isObject(own) ? [app_id, own['class'], own['instance']] : [app_id];
      const ids = names.map(textOf).filter((id) => id !== undefined);
      const isWindow = ids.length > 0 || typeof window === 'number' || (pid ?? 0) > 0;
      return isWindow ? { ids, pid } : null;
    }
    for (const children of [nodes, floating_nodes])
      if (Array.isArray(children)) for (const child of children as unknown[]) open.push(child);
  }
  return null;
}

/** Hyprland, by its own `hyprctl`, which finds the socket of every version. */
export const hyprland: FrontAppAdapter = {
  id: 'hyprland',
  detect: (desktop) => isXdgSystem(desktop) && envOf(desktop, 'HYPRLAND_INSTANCE_SIGNATURE') !== undefined,
  async read(desktop) {
    const options = { env: desktop.env, timeoutMs: READ_TIMEOUT_MS };
    const { code, stdout } = await desktop.run('hyprctl', ['activewindow', '-j'], options);
    if (code === 0) return parseHyprland(desktop, stdout);
    throw new StewardError('unavailable', 'hyprctl cannot reach Hyprland.', {
      hint: 'A job must run inside the session, with its HYPRLAND_INSTANCE_SIGNATURE and XDG_RUNTIME_DIR.',
    });
  },
};

const KEPT = ['', 'class', 'initialClass', 'pid'];

/** `hyprctl activewindow -j`; `{}` (or `Invalid`, in old versions) when nothing has the focus. */
export function parseHyprland(desktop: Pick<Desktop, 'env'>, text: string): FrontApp | null {
  if (text.trim() === 'Invalid') return null;
  const hint = 'Check that "hyprctl activewindow -j" prints JSON.';
  const found = parseAnswer(text, (key) => KEPT.includes(key), { who: 'hyprctl', hint });
  return nameAny(desktop, [found?.['class'], found?.['initialClass']], found?.['pid']);
}
