import { StewardError } from '../../errors';
import {
  READ_TIMEOUT_MS,
  envOf,
  isXdgSystem,
  parseAnswer,
  type Desktop,
  type FrontApp,
  type FrontAppAdapter,
} from './adapter';
import { nameAny } from './desktop-entries';

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
