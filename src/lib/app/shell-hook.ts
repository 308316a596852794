import { join } from 'node:path';

import { findProgram } from '../platform/process/program';
import { realPath } from '../platform/files/stat';
import type { Context } from './context';
import { HOOK_LINES, SHELL_HOOKS, type HookShell } from '../shell/hook';

/** `steward shell-hook SHELL --json` */
export interface ShellHook {
  shell: HookShell;
  script: string;
  /** What goes into which file. */
  line: string;
  file: string;
}

/**
 * The snippet with the configured time. A broken configuration is `config`.
 *
 * @param root the folder of steward's package.json
 */
export async function shellHook(context: Context, root: string, shell: HookShell): Promise<ShellHook> {
  const { config } = await context.loadConfig();
  const longSec = config.settings.notifications.thresholds.longTaskMinutes * 60;
  const script = SHELL_HOOKS[shell]({ longSec, steward: stewardWords(root) });
  return { shell, script, ...HOOK_LINES[shell] };
}

/** The path of the link on the PATH that leads to this very steward: it stays when steward is upgraded. */
function stewardWords(root: string): string[] {
  const own = join(root, 'bin', 'run.js');
  const onPath = findProgram('steward');
  return onPath !== undefined && realPath(onPath) === realPath(own) ? [onPath] : [process.execPath, own];
}
