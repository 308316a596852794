import { assistantOf, type AssistantSettings } from '../assistant/claude-code-settings';
import { hasSkill, skillPath } from '../assistant/skill';
import type { PathHost } from '../platform/files/paths';
import { installerDeps, type Context, type InstallerDeps } from './context';

/** The dependencies of the hooks commands and the set-up. */
export function openHooks(
  context: Context,
  assistant = 'claude-code',
): { deps: InstallerDeps; assistant: AssistantSettings } {
  return { deps: installerDeps(context), assistant: assistantOf(assistant) };
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
