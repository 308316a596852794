import { StewardError } from '../../errors';
import {
  READ_TIMEOUT_MS,
  envOf,
  isXdgSystem,
  type Desktop,
  type FrontApp,
  type FrontAppAdapter,
} from './adapter';
import { nameWindow } from './desktop-entries';

/** Hyprland, by its own `hyprctl`, which finds the socket of every version. */
export const hyprland: FrontAppAdapter = {
  id: 'hyprland',
  detect: (desktop) => isXdgSystem(desktop) && envOf(desktop, 'HYPRLAND_INSTANCE_SIGNATURE') !== undefined,
  async read(desktop) {
    const { code, stdout } = await desktop.run('hyprctl', ['activewindow', '-j'], {
      env: desktop.env,
      timeoutMs: READ_TIMEOUT_MS,
    });
    if (code !== 0) {
      throw new StewardError('unavailable', 'hyprctl cannot reach Hyprland.', {
        hint: 'A job must run inside the session, with its HYPRLAND_INSTANCE_SIGNATURE and XDG_RUNTIME_DIR.',
      });
    }
    return parseHyprland(desktop, stdout);
  },
};

const KEPT = new Set(['', 'class', 'initialClass', 'pid']);

/** `hyprctl activewindow -j`; `{}` (or `Invalid`, in old versions) when nothing has the focus. */
export function parseHyprland(desktop: Pick<Desktop, 'env'>, text: string): FrontApp | null {
  if (text.trim() === 'Invalid') return null;
  let value: unknown;
  try {
    value = JSON.parse(text, (key, part: unknown) => (KEPT.has(key) ? part : undefined));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new StewardError('unavailable', 'hyprctl gave no readable answer.', {
      hint: 'Check that "hyprctl activewindow -j" prints JSON.',
    });
  }
  if (typeof value !== 'object' || value === null) return null;
  const { class: own, initialClass, pid } = value as Record<string, unknown>;
  const ids = [own, initialClass].filter((id) => typeof id === 'string' && id !== '') as string[];
  if (ids.length === 0 && typeof pid !== 'number') return null;
  return nameWindow(desktop, { ids, pid: typeof pid === 'number' ? pid : undefined });
}
