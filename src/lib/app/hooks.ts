import { assistantOf, type AssistantSettings } from '../assistant/claude-code-settings';
import { entriesOf, manifestDeps, shimDeps } from '../assistant/install';
import { isShimCurrent, refreshShim } from '../assistant/shim';
import { hasSkill, skillPath } from '../assistant/skill';
import { withInstallManifest } from '../platform/files/install-manifest';
import type { PathHost } from '../platform/files/paths';
import { installerDeps, type Context, type InstallerDeps } from './context';

/** The dependencies of the hooks commands and the set-up. */
export function openHooks(
  context: Context,
  assistant = 'claude-code',
): { deps: InstallerDeps; assistant: AssistantSettings } {
  return { deps: installerDeps(context), assistant: assistantOf(assistant) };
}

/** Updates an installed shim that an earlier version wrote. */
export async function refreshHooks(context: Context): Promise<void> {
  const deps = installerDeps(context);
  const shim = shimDeps(deps);
  if (entriesOf(deps).length === 0 || isShimCurrent(shim)) return;
  const { clock, machineId } = deps;
  await withInstallManifest(manifestDeps(deps), (manifest) =>
    refreshShim({ ...shim, clock, machineId }, manifest),
  );
}

/** Asks whether to install the work skill; false without a terminal, or if the assistant has it. */
export async function askForSkill(deps: { host: PathHost }, assistant: AssistantSettings): Promise<boolean> {
  const { isInteractive, confirm } = await import('../platform/terminal/ask');
  if (!isInteractive() || hasSkill(deps, assistant)) return false;
  return confirm(
    `Install the work skill for ${assistant.title} too? It checks tasks and adds issues and reminders. It goes to ${skillPath(deps, assistant)}.`,
    'no',
  );
}
