import { isAbsolute, join } from 'node:path';

import { StewardError } from '../../errors';
import { converse } from '../../platform/net/local-socket';
import { READ_TIMEOUT_MS, envOf, isXdgSystem, type Desktop, type FrontAppAdapter } from './adapter';
import { nameWindow } from './desktop-entries';
import { toplevelDialogue } from './wlr-toplevels';

const MAX_BYTES = 4 * 1024 * 1024;

/** Any Wayland compositor that offers wlr-foreign-toplevel-management (labwc, river, Wayfire, niri, …). */
export const wlroots: FrontAppAdapter = {
  id: 'wlroots',
  detect: (desktop) => isXdgSystem(desktop) && waylandSocket(desktop) !== undefined,
  async read(desktop) {
    const path = waylandSocket(desktop) ?? '';
    const options = { path, what: 'The Wayland display', timeoutMs: READ_TIMEOUT_MS, maxBytes: MAX_BYTES };
    const toplevels = await converse(options, toplevelDialogue);
    if (toplevels === 'not offered') {
      throw new StewardError(
        'not_found',
        'This Wayland compositor does not tell which window has the focus.',
        {
          hint: 'It would have to offer wlr-foreign-toplevel-management; git and agent sessions are captured all the same.',
        },
      );
    }
    const active = toplevels.find((toplevel) => toplevel.activated);
    return active === undefined ? null : nameWindow(desktop, { ids: [active.appId] });
  },
};

function waylandSocket(desktop: Desktop): string | undefined {
  const name = envOf(desktop, 'WAYLAND_DISPLAY');
  if (name === undefined || isAbsolute(name)) return name;
  const runtime = envOf(desktop, 'XDG_RUNTIME_DIR');
  return runtime === undefined ? undefined : join(runtime, name);
}
