import { spawnSync } from '../process/spawn';
import { readText } from './atomic-file';

const SOURCES: Partial<Record<NodeJS.Platform, () => string>> = {
  linux: () =>
    ['/etc/machine-id', '/var/lib/dbus/machine-id'].map(fileText).find((text) => text !== '') ?? '',
  darwin: () => outputOf('/usr/sbin/ioreg', ['-rd1', '-c', 'IOPlatformExpertDevice']),
  win32: () =>
    outputOf(`${process.env['SystemRoot'] ?? 'C:\\Windows'}\\System32\\reg.exe`, [
      'query',
      'HKLM\\SOFTWARE\\Microsoft\\Cryptography',
      ...['/v', 'MachineGuid', '/reg:64'],
    ]),
};
const ID: Partial<Record<NodeJS.Platform, RegExp>> = {
  linux: /^([0-9a-f]{32})$/m,
  darwin: /"IOPlatformUUID" = "([0-9A-F-]{36})"/,
  win32: /MachineGuid\s+REG_SZ\s+([0-9a-f-]{36})/i,
};

/** Returns the operating system's machine id, or undefined if it has none. */
export function osId(): string | undefined {
  return parseOsId(process.platform, SOURCES[process.platform]?.() ?? '');
}

/** Extracts the id from the system file or command output. */
export function parseOsId(platform: NodeJS.Platform, text: string): string | undefined {
  const id = ID[platform]?.exec(text)?.[1]?.toLowerCase();
  // Some OS images ship with an all-zero id.
  return id === undefined || /^[0-]+$/.test(id) ? undefined : id;
}

function fileText(path: string): string {
  try {
    return readText(path, { maxBytes: 4096, followLink: true })?.trim() ?? '';
  } catch {
    return '';
  }
}

function outputOf(file: string, args: readonly string[]): string {
  const { stdout } = spawnSync(file, args, { encoding: 'utf8', timeout: 5000, windowsHide: true });
  return typeof stdout === 'string' ? stdout : '';
}
