import { win32 } from 'node:path';

import { askPowerShell, windowsCalls, type WindowsProgram } from '../../platform/process/windows';
import type { FrontApp, FrontAppAdapter } from './adapter';

/** Windows: the foreground window's program, by direct calls; by PowerShell where those cannot be made. */
export const windows: FrontAppAdapter = {
  id: 'windows',
  detect: (desktop) => desktop.platform === 'win32',
  async read(desktop) {
    const calls = await windowsCalls();
    if (calls !== undefined) return nameProgram(calls.foreground());
    return parsePowerShell(await askPowerShell(desktop.run, SCRIPT));
  },
};

const SCRIPT = `
$t = Add-Type -PassThru -Namespace Steward -Name Front -MemberDefinition @'
[DllImport("user32.dll")] public static extern IntPtr GetForegroundWindow();
[DllImport("user32.dll")] public static extern uint GetWindowThreadProcessId(IntPtr w, out uint pid);
'@
$id = 0
$w = $t::GetForegroundWindow()
if ($w -eq [IntPtr]::Zero) { '{}'; exit }
[void]$t::GetWindowThreadProcessId($w, [ref]$id)
$p = Get-Process -Id $id
@{ pid = $id; path = $p.Path; description = $p.Description; name = $p.ProcessName } | ConvertTo-Json -Compress
`;

/** The script's answer: pid, path, description, name; `{}` when there is no foreground window. */
export function parsePowerShell(answer: Record<string, unknown>): FrontApp | null {
  const { pid, path, description, name } = answer;
  if (typeof pid !== 'number') return null;
  const fallback = typeof name === 'string' && name !== '' ? `${name}.exe` : undefined;
  return nameProgram({
    pid,
    path: typeof path === 'string' && path !== '' ? path : fallback,
    description: typeof description === 'string' ? description : undefined,
  });
}

/** In front while the screen is locked, or while a desktop without windows has the focus. */
const NOBODY = new Set(['lockapp.exe', 'logonui.exe']);

/** Named by FileDescription, else by the executable without its extension. */
export function nameProgram(program: WindowsProgram | null): FrontApp | null {
  if (program === null || program.pid === 0) return null;
  const { pid } = program;
  if (program.path === undefined) return { app: 'unknown', pid };
  const file = win32.basename(program.path);
  if (NOBODY.has(file.toLowerCase())) return null;
  const description = program.description?.trim();
  const app = description === undefined || description === '' ? file.replace(/\.exe$/i, '') : description;
  return { app, bundleId: file, pid };
}
