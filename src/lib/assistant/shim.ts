import type { Clock } from '../platform/time/clock';
import type { InstallManifest } from '../platform/files/install-manifest';
import {
  forBatch,
  isLauncherCurrent,
  launcherPath,
  removeLauncher,
  writeLauncher,
  type LauncherDeps,
  type LauncherForm,
} from '../platform/process/launcher';
import type { PathHost } from '../platform/files/paths';
import { forShell } from '../platform/process/shell-word';

export interface ShimDeps extends LauncherDeps {
  /** The user area where STEWARD_HOME chose it. */
  area: string | undefined;
}

const SHIM = { name: 'steward-hook', manifestId: 'hooks:shim' };

/** Where the shim lies: a shell script, on Windows a batch file. */
export function shimPath(deps: Pick<ShimDeps, 'bin' | 'host'>): string {
  return launcherPath(SHIM.name, deps);
}

/** Writes the shim where it is not there as it should be, recorded first. True when it had to be written. */
export function writeShim(
  deps: ShimDeps & { clock: Clock; machineId: string },
  manifest: InstallManifest,
): boolean {
  return writeLauncher(shimForm(deps), deps, manifest);
}

/** Would `writeShim` write? */
export function isShimCurrent(deps: ShimDeps): boolean {
  return isLauncherCurrent(shimForm(deps), deps);
}

/** Removes the shim, and its folder if nothing else is in it. True when it was there. */
export function removeShim(
  deps: Pick<ShimDeps, 'bin' | 'host'> & { clock: Clock },
  manifest: InstallManifest,
): boolean {
  return removeLauncher(SHIM, deps, manifest);
}

/** The shim as a launcher: its name, and what its template is filled with. */
export function shimForm({ area, host }: Pick<ShimDeps, 'area' | 'host'>): LauncherForm {
  return { ...SHIM, values: { ENVIRONMENT: environmentOf(area, host) } };
}

/** The area that was chosen when the hooks were installed, where the assistant's own environment chooses none. */
function environmentOf(area: string | undefined, host: PathHost): string {
  if (area === undefined) return '';
  return host.platform === 'win32'
    ? `if not defined STEWARD_HOME set "STEWARD_HOME=${forBatch(area, host.env)}"`
    : `[ -n "\${STEWARD_HOME-}" ] || export STEWARD_HOME=${forShell(area)}`;
}
