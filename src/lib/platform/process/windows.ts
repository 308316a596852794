import SIGNATURES from '../../../../templates/data/windows.json';
import { StewardError } from '../../errors';
import { parseObject } from '../files/json-object';
import type { Run } from './process';

/** The program that owns the foreground window. The window's title is not read. */
export interface WindowsProgram {
  pid: number;
  /** Full path of the executable, or undefined if the program is elevated or runs as another user. */
  path: string | undefined;
  /** FileDescription in the program's version resource. */
  description: string | undefined;
}

type Koffi = Pick<typeof import('koffi'), 'load'>;
/** A native handle, for example of a window, or null. */
type Handle = unknown;

/**
 * Returns the Windows functions that steward calls, or undefined if the npm package `koffi` isn't installed
 * or has no build for this machine.
 */
export async function windowsCalls(): Promise<ReturnType<typeof bind> | undefined> {
  try {
    const loaded = await import('koffi');
    return bind(loaded.default ?? loaded);
  } catch {
    // Without `koffi`, callers use PowerShell.
    return undefined;
  }
}

const PROCESS_QUERY_LIMITED_INFORMATION = 0x1000;
const DESKTOP_READOBJECTS = 0x0001;
const MAX_PATH_UNITS = 32768;
/** The program that draws a Store app's frame; the app's own window is a child of that frame. */
const FRAME = /\\ApplicationFrameHost\.exe$/i;
const STORE_WINDOW = 'Windows.UI.Core.CoreWindow';
/** Window classes of the Windows shell: desktop, wallpaper and taskbars. */
const SHELL = new Set(['Progman', 'WorkerW', 'Shell_TrayWnd', 'Shell_SecondaryTrayWnd', '#32769']);
const MAX_CLASS_UNITS = 256;

function bind(koffi: Koffi) {
  const system = functionsOf(koffi);
  return {
    /** Returns the program with the focus, or null if the desktop, the taskbar or no window has it. */
    foreground: () => foregroundOf(system),
    /** Returns the milliseconds since the last input in this Windows session. */
    idleMs() {
      const info = Buffer.alloc(8);
      info.writeUInt32LE(8, 0);
      if (system.GetLastInputInfo(info) === 0) return 0;
      // The tick counts are 32-bit and wrap after 49 days. The unsigned shift handles the wrap.
      return (Number(system.GetTickCount()) - info.readUInt32LE(4)) >>> 0;
    },
    /** Returns whether another desktop, such as the lock screen or a UAC prompt, receives the input. */
    locked() {
      const desktop: Handle = system.OpenInputDesktop(0, 0, DESKTOP_READOBJECTS);
      if (desktop === null) return true;
      system.CloseDesktop(desktop);
      return false;
    },
  };
}

type Libraries = typeof SIGNATURES;
type FunctionName = { [L in keyof Libraries]: keyof Libraries[L] }[keyof Libraries];
type System = Record<FunctionName, (...args: unknown[]) => unknown>;

function functionsOf(koffi: Koffi): System {
  const functions = Object.entries(SIGNATURES).flatMap(([library, signatures]) => {
    const loaded = koffi.load(library);
    return Object.entries(signatures).map(([name, signature]) => [name, loaded.func(signature)] as const);
  });
  return Object.fromEntries(functions) as System;
}

function foregroundOf(system: System): WindowsProgram | null {
  let window: Handle = system.GetForegroundWindow();
  if (window === null || SHELL.has(classOf(system, window))) return null;
  let pid = pidOf(system, window);
  let path = pathOf(system, pid);
  if (path !== undefined && FRAME.test(path)) {
    window = system.FindWindowExW(window, null, STORE_WINDOW, null);
    if (window !== null) {
      pid = pidOf(system, window);
      path = pathOf(system, pid);
    }
  }
  return { pid, path, description: path === undefined ? undefined : descriptionOf(system, path) };
}

function classOf(system: System, window: Handle): string {
  const bytes = Buffer.alloc(2 * MAX_CLASS_UNITS);
  return bytes.toString('utf16le', 0, 2 * Number(system.GetClassNameW(window, bytes, MAX_CLASS_UNITS)));
}

function pidOf(system: System, window: Handle): number {
  const pid = [0];
  system.GetWindowThreadProcessId(window, pid);
  return pid[0] ?? 0;
}

function pathOf(system: System, pid: number): string | undefined {
  const handle: Handle = system.OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, 0, pid);
  if (handle === null) return undefined;
  try {
    const units = [MAX_PATH_UNITS];
    const bytes = Buffer.alloc(2 * MAX_PATH_UNITS);
    const ok = system.QueryFullProcessImageNameW(handle, 0, bytes, units) !== 0;
    return ok ? bytes.toString('utf16le', 0, 2 * (units[0] ?? 0)) : undefined;
  } finally {
    system.CloseHandle(handle);
  }
}

function descriptionOf(system: System, path: string): string | undefined {
  const size = Number(system.GetFileVersionInfoSizeW(path, [0]));
  if (size === 0) return undefined;
  const bytes = Buffer.alloc(size);
  return system.GetFileVersionInfoW(path, 0, size, bytes) === 0 ? undefined : fileDescription(bytes);
}

/**
 * Returns the FileDescription of a version resource. A string record consists of its length, value length,
 * type, NUL-terminated key, padding to four bytes, and NUL-terminated value.
 */
export function fileDescription(resource: Buffer): string | undefined {
  const key = Buffer.from('FileDescription\0', 'utf16le');
  const at = resource.indexOf(key);
  if (at < 6) return undefined;
  const units = resource.readUInt16LE(at - 4);
  const start = (at + key.length + 3) & ~3;
  const value = resource.toString('utf16le', start, Math.min(start + 2 * units, resource.length));
  return value.split('\0')[0]?.trim() || undefined;
}

const TIMEOUT_MS = 10_000;

/** Command that installs the supported version of the library. */
export const FASTER = 'npm install --global koffi@3';

/** Runs a script in Windows PowerShell and returns the JSON object that it prints. Takes about a second. */
export async function askPowerShell(run: Run, script: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout, timedOut } = await run('powershell.exe', powerShellArgs(script.join('\n')), {
    timeoutMs: TIMEOUT_MS,
  });
  if (timedOut || code !== 0) {
    const reason = timedOut ? `did not respond within ${TIMEOUT_MS / 1000} s` : `failed with code ${code}`;
    throw new StewardError('unavailable', `PowerShell ${reason}.`, {
      hint: `To avoid using PowerShell, run "${FASTER}".`,
    });
  }
  const value = parseObject(stdout);
  if (value !== undefined) return value;
  throw new StewardError('unavailable', 'PowerShell printed invalid output.', {
    hint: 'Check that "powershell.exe -NoProfile" starts without errors.',
  });
}

export function powerShellArgs(script: string): string[] {
  const encoded = Buffer.from(script, 'utf16le').toString('base64');
  return ['-NoProfile', '-NonInteractive', '-EncodedCommand', encoded];
}
