import type { Assistant } from '../../src/lib/assistant/assistant';
import type { HookInstallDeps } from '../../src/lib/assistant/install-deps';
import { uninstallAllHooks, type HooksUninstalled } from '../../src/lib/assistant/uninstall';
import { toStewardError } from '../../src/lib/errors';

/** Uninstalls one assistant's hooks, and fails as that failed. */
export async function uninstallHooks(
  deps: HookInstallDeps,
  { assistant, dryRun }: { assistant: Assistant; dryRun: boolean },
): Promise<HooksUninstalled> {
  const { result, failures } = await uninstallAllHooks(deps, { assistants: [assistant], dryRun });
  for (const failure of failures) throw toStewardError(toStewardError(failure).cause);
  return result;
}
