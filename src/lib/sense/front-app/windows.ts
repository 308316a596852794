import { win32 } from 'node:path';

import SCRIPTS from '../../../../templates/data/desktop-scripts.json';
import { textOf } from '../../platform/files/json-object';
import { askPowerShell, windowsCalls, type WindowsProgram } from '../../platform/process/windows';
import type { FrontApp, FrontAppAdapter } from './adapter';

/** The adapter for Windows. Uses native calls, or PowerShell if native calls aren't available. */
export const windows: FrontAppAdapter = {
  id: 'windows',
  detect: (desktop) => desktop.platform === 'win32',
  async read(desktop) {
    const calls = await windowsCalls();
    if (calls !== undefined) return nameProgram(calls.foreground());
    const { pid, path, description, name } = await askPowerShell(desktop.run, SCRIPTS.windowsFront);
    if (typeof pid !== 'number') return null;
    const program = textOf(name);
    return nameProgram({
      pid,
      path: textOf(path) ?? (program === undefined ? undefined : `${program}.exe`),
      description: textOf(description),
    });
  },
};

/** System programs that are in the foreground while the screen is locked. */
const LOCK_SCREENS = new Set(['lockapp.exe', 'logonui.exe']);

function nameProgram(program: WindowsProgram | null): FrontApp | null {
  if (program === null || program.pid === 0) return null;
  const { pid, path, description } = program;
  if (path === undefined) return { app: 'unknown', pid };
  const file = win32.basename(path);
  if (LOCK_SCREENS.has(file.toLowerCase())) return null;
  return { app: description?.trim() || file.replace(/\.exe$/i, ''), bundleId: file, pid };
}
