import { StewardError } from '../../errors';
import { converse } from '../../platform/net/local-socket';
import { READ_TIMEOUT_MS, envOf, isWayland, isXdgSystem, type FrontAppAdapter } from './adapter';
import { nameWindow, type WindowFacts } from './desktop-entries';

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

function treeAdapter(
  id: string,
  variable: string,
  may: (desktop: Parameters<FrontAppAdapter['detect']>[0]) => boolean,
): FrontAppAdapter {
  return {
    id,
    detect: (desktop) => envOf(desktop, variable) !== undefined && may(desktop),
    async read(desktop) {
      const path = envOf(desktop, variable) ?? '';
      const tree = await getTree(path, `The ${id} IPC socket`);
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
    const chunks: Buffer[] = [];
    let size = 0;
    return (chunk) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size < HEADER_BYTES) return undefined;
      const reply = Buffer.concat(chunks);
      if (!reply.subarray(0, MAGIC.length).equals(MAGIC)) {
        throw new StewardError('unavailable', `${what} (${path}) does not speak the i3 protocol.`);
      }
      const end = HEADER_BYTES + reply.readUInt32LE(6);
      return reply.length < end ? undefined : parseTree(reply.toString('utf8', HEADER_BYTES, end), what);
    };
  });
}

/** Titles are dropped while the text is parsed: no object that holds one comes into being. */
export function parseTree(text: string, what: string): unknown {
  try {
    return JSON.parse(text, (key, value: unknown) => (TITLES.has(key) ? undefined : value));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new StewardError('unavailable', `${what} gave no readable tree of windows.`);
  }
}

const TITLES = new Set(['name', 'title', 'window_title', 'marks', 'title_format']);

interface TreeNode {
  focused?: unknown;
  pid?: unknown;
  app_id?: unknown;
  window?: unknown;
  window_properties?: { class?: unknown; instance?: unknown } | null;
  nodes?: unknown;
  floating_nodes?: unknown;
}

/** The focused window of a tree; null when the focus is on a workspace or container. */
export function focusedWindow(tree: unknown): WindowFacts | null {
  const open: unknown[] = [tree];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (typeof node !== 'object' || node === null) continue;
    const { focused, pid, app_id, window, window_properties, nodes, floating_nodes } = node as TreeNode;
    if (focused === true) {
      const ids = [app_id, window_properties?.class, window_properties?.instance].filter(isText);
      const isWindow = ids.length > 0 || typeof window === 'number' || (typeof pid === 'number' && pid > 0);
      return isWindow ? { ids, pid: typeof pid === 'number' ? pid : undefined } : null;
    }
    for (const children of [nodes, floating_nodes]) if (Array.isArray(children)) open.push(...children);
  }
  return null;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
