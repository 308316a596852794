import { assistantOf, type AssistantSettings } from '../assistant/claude-code-settings';
import type { StatusDeps } from '../assistant/install-view';
import type { HookInstallDeps } from '../assistant/install';
import { hasSkill, skillPath } from '../assistant/skill';
import { processHost } from '../platform/files/paths';
import type { Context } from './context';

/**
 * What the hooks commands call the library with.
 *
 * @param root the folder of steward's package.json
 */
export function openHooks(
  context: Context,
  root: string,
  assistant: string,
): { deps: HookInstallDeps & StatusDeps; assistant: AssistantSettings } {
  const deps = {
    area: context.area,
    clock: context.clock,
    host: processHost(),
    product: { root, node: process.execPath },
    run: context.run,
    // A getter: what writes nothing never makes an id.
    get machineId() {
      return context.machineId;
    },
  };
  return { deps, assistant: assistantOf(assistant) };
}

/** Asks at a terminal whether the assistant is to have the work skill, where it has none; without one: no. */
export async function offersSkill(
  deps: Pick<HookInstallDeps, 'host'>,
  assistant: AssistantSettings,
): Promise<boolean> {
  const { isInteractive, confirm } = await import('../platform/terminal/ask');
  if (!isInteractive() || hasSkill(deps, assistant)) return false;
  return confirm(
    `Give ${assistant.title} the work skill, too? It checks tasks and adds issues and reminders with steward work, and lies in ${skillPath(deps, assistant)}.`,
    'no',
  );
}
