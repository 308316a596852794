import { type StewardError, throwIfBug } from '../../errors';
import { envOf, isWayland, type Desktop, type FrontApp, type FrontAppAdapter } from './adapter';
import { gnome } from './gnome';
import { kwin } from './kwin';
import { macos } from './macos';
import { hyprland, i3, sway } from './window-managers';
import { terminal } from './terminal';
import { windows } from './windows';
import { wlroots } from './wlroots';
import { x11 } from './x11';

/** The adapters, in the order in which they are tried: specific desktops first, general protocols last. */
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
  terminal,
];

export type FrontAppReading =
  | { state: 'seen'; app: FrontApp; via: string }
  /** The desktop responded, but no application has the focus. */
  | { state: 'none'; via: string }
  /** The desktop can't report the frontmost application, or a required component is missing. */
  | { state: 'unsupported'; reason: string }
  /** An adapter for this desktop failed. */
  | { state: 'error'; reason: string };

/**
 * Returns the frontmost application from the first adapter that succeeds. If none succeeds, returns an error.
 */
export async function readFrontApp(
  desktop: Desktop,
  adapters: readonly FrontAppAdapter[] = FRONT_APP_ADAPTERS,
): Promise<FrontAppReading> {
  const failures: StewardError[] = [];
  for (const adapter of adapters) {
    if (!adapter.detect(desktop)) continue;
    try {
      const app = await adapter.read(desktop);
      return app === null ? { state: 'none', via: adapter.id } : { state: 'seen', app, via: adapter.id };
    } catch (error) {
      failures.push(throwIfBug(error));
    }
  }
  const broken = failures.find(({ kind }) => kind !== 'not_found');
  if (broken !== undefined) return { state: 'error', reason: withHint(broken) };
  return { state: 'unsupported', reason: failures[0] ? withHint(failures[0]) : whyUnsupported(desktop) };
}

function whyUnsupported(desktop: Desktop): string {
  const hasDisplay =
    envOf(desktop, 'DISPLAY') !== undefined || envOf(desktop, 'WAYLAND_DISPLAY') !== undefined;
  if (!hasDisplay) {
    return (
      'No desktop session: neither DISPLAY nor WAYLAND_DISPLAY is set. ' +
      'Run steward in your graphical session, not from cron or over ssh.'
    );
  }
  if (isWayland(desktop)) {
    return (
      'This is a Wayland session, but WAYLAND_DISPLAY and XDG_RUNTIME_DIR are not both set. ' +
      'Run steward in your graphical session, where both variables are set.'
    );
  }
  return `Applications cannot be captured on ${desktop.platform}; commits and assistant sessions can.`;
}

function withHint({ message, hint }: StewardError): string {
  return hint === undefined ? message : `${message} ${hint}`;
}
