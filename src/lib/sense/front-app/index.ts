import { toStewardError, type StewardError } from '../../errors';
import { envOf, isWayland, type Desktop, type FrontApp, type FrontAppAdapter } from './adapter';
import { gnome } from './gnome';
import { hyprland, i3, sway } from './window-managers';
import { kwin } from './kwin';
import { macos } from './macos';
import { windows } from './windows';
import { wlroots } from './wlroots';
import { x11 } from './x11';

/** In the order they are asked: what knows its desktop first, what fits many later. */
export const FRONT_APP_ADAPTERS: readonly FrontAppAdapter[] = [
  sway,
  hyprland,
  kwin,
  gnome,
  wlroots,
  i3,
  x11,
  macos,
  windows,
];

export type FrontAppSight =
  | { state: 'seen'; app: FrontApp; via: string }
  /** The desktop was asked, and no application has the focus. */
  | { state: 'none'; via: string }
  /** This desktop cannot tell, or lacks what it takes. */
  | { state: 'unsupported'; reason: string }
  /** It should work here, and does not. */
  | { state: 'error'; reason: string };

/**
 * The front application of the desktop that the environment names. Adapters are asked in order until one
 * answers; where none does, the reason is of the first that failed. Throws only for a bug.
 */
export async function readFrontApp(
  desktop: Desktop,
  adapters: readonly FrontAppAdapter[] = FRONT_APP_ADAPTERS,
): Promise<FrontAppSight> {
  const failures: StewardError[] = [];
  for (const adapter of adapters) {
    if (!adapter.detect(desktop)) continue;
    try {
      const app = await adapter.read(desktop);
      return app === null ? { state: 'none', via: adapter.id } : { state: 'seen', app, via: adapter.id };
    } catch (error) {
      const known = toStewardError(error);
      if (known.kind === 'internal') throw error;
      failures.push(known);
    }
  }
  const broken = failures.find((failure) => failure.kind !== 'not_found');
  if (broken !== undefined) return { state: 'error', reason: sentence(broken) };
  return { state: 'unsupported', reason: failures[0] ? sentence(failures[0]) : whyNone(desktop) };
}

/** Why no adapter fits: for a person who reads `status`. */
function whyNone(desktop: Desktop): string {
  const hasDisplay =
    envOf(desktop, 'DISPLAY') !== undefined || envOf(desktop, 'WAYLAND_DISPLAY') !== undefined;
  if (!hasDisplay) {
    return (
      'No desktop here: neither DISPLAY nor WAYLAND_DISPLAY is set, as under cron or ssh. ' +
      'Applications are captured inside the graphical session only: run steward there.'
    );
  }
  if (isWayland(desktop)) {
    return (
      'This is a Wayland session, but WAYLAND_DISPLAY and XDG_RUNTIME_DIR are not both set here. ' +
      'Run steward inside the session, with its environment.'
    );
  }
  return `Applications are not captured on ${desktop.platform}. Git and agent sessions are.`;
}

function sentence(error: StewardError): string {
  return error.hint === undefined ? error.message : `${error.message} ${error.hint}`;
}
