import { userArea } from '../../config/user-area';
import { flagsOf } from '../resolve';
import { hookCommand, isInternal, needsPlans } from '../hook-command';
import { keptHookSettings, type HookSettings } from '../hook-settings';

/** `steward hook EVENT`; help, the plans of work capture, and the run after a change of config.yaml, are the full command's. */
export async function run(argv: readonly string[]): Promise<number | undefined> {
  if (isInternal()) return 0;
  if (flagsOf(argv).some((word) => word === '--help' || word === '-h')) return undefined;
  if (needsPlans(argv)) return undefined;
  const settings = kept();
  return settings === undefined ? undefined : hookCommand(argv, () => settings);
}

/** What cannot be read here is said, and logged, by the full command. */
function kept(): HookSettings | undefined {
  try {
    return keptHookSettings(userArea());
  } catch {
    return undefined;
  }
}
