import type { HookInstallDeps } from '../assistant/install-deps';
import { refreshHooks } from '../assistant/registered';
import type { Machine } from '../config/user-area';
import { updateConfig } from '../config/write';

/** Updates files from earlier versions. Prints errors instead of stopping the daemon. */
export async function updateFiles(machine: Machine, hooks: HookInstallDeps, say: (text: string) => void) {
  const updates = {
    'update the configuration': () => updateConfig(machine),
    'update the hook script': () => refreshHooks(hooks),
  };
  for (const [what, update] of Object.entries(updates)) {
    try {
      await update();
    } catch (error) {
      say(`Cannot ${what}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
