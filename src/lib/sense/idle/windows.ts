import { askPowerShell } from '../../platform/process/powershell';
import { windowsCalls } from '../../platform/process/windows';
import type { Idle, IdleAdapter } from './adapter';

/** Windows: GetLastInputInfo, and whether the input goes to this user's desktop. */
export const windowsIdle: IdleAdapter = {
  id: 'windows',
  detect: (desktop) => desktop.platform === 'win32',
  async read(desktop) {
    const calls = await windowsCalls();
    if (calls !== undefined) return { idleMs: calls.idleMs(), locked: calls.locked() };
    return parsePowerShellIdle(await askPowerShell(desktop.run, SCRIPT));
  },
};

const SCRIPT = `
$t = Add-Type -PassThru -Namespace Steward -Name Idle -MemberDefinition @'
public struct Info { public uint size; public uint time; }
[DllImport("user32.dll")] static extern bool GetLastInputInfo(ref Info info);
[DllImport("user32.dll")] static extern IntPtr OpenInputDesktop(uint flags, bool inherit, uint access);
[DllImport("user32.dll")] static extern bool CloseDesktop(IntPtr desktop);
public static uint Ms() {
  Info info = new Info(); info.size = 8; GetLastInputInfo(ref info);
  return unchecked((uint)Environment.TickCount - info.time);
}
public static bool Locked() {
  IntPtr desktop = OpenInputDesktop(0, false, 1);
  if (desktop == IntPtr.Zero) return true;
  CloseDesktop(desktop); return false;
}
'@ | Where-Object { $_.Name -eq 'Idle' }
@{ idleMs = $t::Ms(); locked = $t::Locked() } | ConvertTo-Json -Compress
`;

export function parsePowerShellIdle(answer: Record<string, unknown>): Idle {
  const { idleMs, locked } = answer;
  return {
    ...(typeof idleMs === 'number' ? { idleMs } : {}),
    ...(typeof locked === 'boolean' ? { locked } : {}),
  };
}
