import { shellHook, type HookShell, type ShellHook } from '../shell/hook';
import type { Context } from './context';

/**
 * The snippet with the configured time. A broken configuration is `config`.
 *
 * @param root the folder of steward's package.json
 */
export async function openShellHook(context: Context, root: string, shell: HookShell): Promise<ShellHook> {
  const { config } = await context.loadConfig();
  return shellHook(root, shell, config.settings.notifications.thresholds.longTaskMinutes * 60);
}
