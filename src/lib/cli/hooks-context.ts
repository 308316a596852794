import { assistantOf, type AssistantSettings } from '../assistant/claude-code-settings';
import type { StatusDeps } from '../assistant/install-status';
import type { HookInstallDeps } from '../assistant/install';
import { processHost } from '../platform/paths';
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
