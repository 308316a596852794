import type { Clock } from '../platform/clock';
import type { InstallManifest } from '../platform/install-manifest';
import {
  forBatch,
  isLauncherCurrent,
  launcherPath,
  launcherTarget,
  removeLauncher,
  renderLauncher,
  writeLauncher,
  type LauncherDeps,
  type LauncherForm,
  type LauncherTarget,
  type LauncherTemplate,
} from '../platform/launcher';
import type { PathHost } from '../platform/paths';
import { forShell } from '../platform/shell-word';

/** What the shim starts, where it is still there. */
export interface ShimTarget extends LauncherTarget {
  /** The user area where it is not the default one. */
  area: string | undefined;
}

export interface ShimDeps extends LauncherDeps {
  /** The user area where STEWARD_HOME chose it. */
  area: string | undefined;
}

const SHIM = { name: 'steward-hook', manifestId: 'hooks:shim' };

/** Where the shim lies: a shell script, on Windows a batch file. */
export function shimPath(deps: Pick<ShimDeps, 'bin' | 'host'>): string {
  return launcherPath(SHIM.name, deps);
}

/** What the shim is to start on this machine, by the running process and its PATH. */
export function shimTarget(deps: ShimDeps): ShimTarget {
  return { ...launcherTarget(deps), area: deps.area };
}

/** The text of the shim. Paths may hold anything that a file system allows. */
export function renderShim(template: LauncherTemplate, target: ShimTarget, host: PathHost): string {
  return renderLauncher(template, target, { ENVIRONMENT: environmentOf(target.area, host) }, host);
}

/** Writes the shim where it is not there as it should be, recorded first. True when it had to be written. */
export function writeShim(
  deps: ShimDeps & { clock: Clock; machineId: string },
  manifest: InstallManifest,
): boolean {
  return writeLauncher(formOf(deps), deps, manifest);
}

/** Would `writeShim` write? */
export function isShimCurrent(deps: ShimDeps): boolean {
  return isLauncherCurrent(formOf(deps), deps);
}

/** Removes the shim, and its folder if nothing else is in it. True when it was there. */
export function removeShim(
  deps: Pick<ShimDeps, 'bin' | 'host'> & { clock: Clock },
  manifest: InstallManifest,
): boolean {
  return removeLauncher(SHIM, deps, manifest);
}

function formOf({ area, host }: ShimDeps): LauncherForm {
  return { ...SHIM, values: { ENVIRONMENT: environmentOf(area, host) } };
}

/** The area that was chosen when the hooks were installed, where the assistant's own environment chooses none. */
function environmentOf(area: string | undefined, host: PathHost): string {
  if (area === undefined) return '';
  return host.platform === 'win32'
    ? `if not defined STEWARD_HOME set "STEWARD_HOME=${forBatch(area, host.env)}"`
    : `[ -n "\${STEWARD_HOME-}" ] || export STEWARD_HOME=${forShell(area)}`;
}
