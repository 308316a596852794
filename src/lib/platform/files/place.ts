import { readText } from './atomic-file';
import { machineStatePath, type PathHost } from './paths';
import { folderHash } from './short-hash';

/**
 * The folder of a user area that this machine writes to: `machines/<id>/` if another machine owns the area;
 * otherwise, the area itself.
 */
export type Place = '' | `machines/${string}/`;

/**
 * Returns the path of the machine-local file that tells hooks and the shim which folder this machine writes
 * to.
 */
export function placePath(root: string, host: PathHost): string {
  const sep = host.platform === 'win32' ? '\\' : '/';
  return `${machineStatePath(host)}${sep}place-${folderHash(root)}`;
}

/** Returns the stored folder and notice, or undefined if none are stored. */
export function readPlace(root: string, host: PathHost) {
  const text = readText(placePath(root, host), { maxBytes: 64 * 1024 });
  const end = text?.indexOf('\n') ?? -1;
  const place = text?.slice(0, end) ?? '';
  if (text === undefined || end < 0 || !/^(?:machines\/[0-9a-f]{12}\/)?$/.test(place)) return undefined;
  return { place: place as Place, notice: text.slice(end + 1).trim() };
}
