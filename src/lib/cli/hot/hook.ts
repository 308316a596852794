import { userArea } from '../../config/user-area';
import { flagsOf } from '../resolve';
import { hookCommand, isInternal, isPromptHook, needsPlans, type HookConfig } from '../hook-command';
import { keptHookSettings } from '../../app/hook-settings';
import { keptPromptSetting } from '../../app/prompt-setting';

/** `steward hook EVENT`; help, the plans of work capture, and the run after a change of the configuration, are the full command's. */
export async function run(argv: readonly string[]): Promise<number | undefined> {
  if (isInternal()) return 0;
  if (flagsOf(argv).some((word) => word === '--help' || word === '-h')) return undefined;
  if (needsPlans(argv)) return undefined;
  const config = kept(isPromptHook(argv));
  return config === undefined ? undefined : hookCommand(argv, config);
}

/** What cannot be read here is said, and logged, by the full command. */
function kept(isPrompt: boolean): HookConfig | undefined {
  try {
    const area = userArea();
    const settings = keptHookSettings(area);
    const prompt = isPrompt ? keptPromptSetting(area) : 'line';
    if (settings === undefined || prompt === undefined) return undefined;
    return { settings: () => settings, prompt: () => prompt };
  } catch {
    return undefined;
  }
}
