import type { UserArea } from '../config/user-area';
import { StewardError } from '../errors';
import { exists } from '../platform/files/folder';
import { readInstallManifest, type InstallEntry } from '../platform/files/install-manifest';
import type { PathHost } from '../platform/files/paths';
import type { Clock } from '../platform/time/clock';
import type { Assistant } from './assistant';
import { type ShimCommands, type ShimDeps, shimCommands, shimPath } from './shim';

/** Maximum number of attempts to write settings that the assistant may also be writing. */
export const ATTEMPTS = 5;

export function busy(path: string): StewardError {
  return new StewardError('conflict', `${path} changed during every attempt to write it.`, {
    hint: 'Close the program that is writing the file, then retry.',
  });
}

export interface HookInstallDeps {
  area: Pick<UserArea, 'root' | 'bin' | 'installManifest' | 'machine'>;
  clock: Clock;
  machineId: string;
  host: PathHost;
  /** The folder with steward's package.json, and the Node.js executable that runs steward. */
  product: { root: string; node: string };
}

/** Returns this machine's manifest entries without creating any files. */
export function entriesOf(deps: Pick<HookInstallDeps, 'area' | 'machineId'>): InstallEntry[] {
  const { installManifest } = deps.area;
  return exists(installManifest) ? readInstallManifest(installManifest, deps.machineId) : [];
}

export function shimDeps({ area, host, product }: Omit<HookInstallDeps, 'clock' | 'machineId'>): ShimDeps {
  const isDefault = (host.env['STEWARD_HOME'] ?? '') === '';
  return { bin: area.bin, host, product, area: isDefault ? undefined : area.root };
}

export function hooksAddedBy({ added }: InstallEntry) {
  const { created, statusLine } = added;
  return {
    created: Array.isArray(created) ? created.map(String) : [],
    createdFile: added['createdFile'] === true,
    createdFolder: added['createdFolder'] === true,
    statusLine: typeof statusLine === 'string' || statusLine === null ? statusLine : undefined,
  };
}

/** Returns the id of the assistant's manifest entry. */
export function idOf(assistant: Assistant): string {
  return `hooks:${assistant.id}`;
}

/** Returns whether a manifest entry with this id belongs to an assistant's hooks. */
export function isAssistantEntry(id: string): boolean {
  return id.startsWith('hooks:') && id !== 'hooks:shim';
}

export function commandsOf(deps: Pick<HookInstallDeps, 'area' | 'host'>): ShimCommands {
  return shimCommands(shimPath({ bin: deps.area.bin, host: deps.host }), deps.host);
}
