import { join } from 'node:path';

import type { UserArea } from '../config/user-area';
import type { Clock } from '../platform/time/clock';
import { exists } from '../platform/files/folder';
import { readInstallManifest, type InstallEntry } from '../platform/files/install-manifest';
import type { PathHost } from '../platform/files/paths';
import type { AssistantSettings } from './claude-code-settings';
import { shimPath, type ShimDeps } from './shim';
import { shimCommands, type ShimCommands } from './shim-command';

/** What installing, looking and removing need of the machine. */
export interface HookInstallDeps {
  area: Pick<UserArea, 'root' | 'bin' | 'installManifest' | 'machine'>;
  clock: Clock;
  machineId: string;
  host: PathHost;
  /** The folder of steward's package.json, and the node that runs it. */
  product: { root: string; node: string };
}

/** What the manifest holds of a settings file. */
export interface AddedHooks {
  created: string[];
  createdFile: boolean;
  createdFolder: boolean;
}

/** Of an entry of the install manifest that stands for hooks in a settings file. */
export const KIND = 'settings-entries';

/** What the manifest has of this machine; nothing is made for the look. */
export function entriesOf(deps: Pick<HookInstallDeps, 'area' | 'machineId'>): InstallEntry[] {
  const { installManifest } = deps.area;
  return exists(installManifest) ? readInstallManifest(installManifest, deps.machineId) : [];
}

export function shimDeps({ area, host, product }: Omit<HookInstallDeps, 'clock' | 'machineId'>): ShimDeps {
  const isDefault = (host.env['STEWARD_HOME'] ?? '') === '';
  return { bin: area.bin, host, product, area: isDefault ? undefined : area.root };
}

export function hooksAddedBy({ added }: InstallEntry): AddedHooks {
  const created = added['created'];
  return {
    created: Array.isArray(created) ? created.map(String) : [],
    createdFile: added['createdFile'] === true,
    createdFolder: added['createdFolder'] === true,
  };
}

/** The id of its entry in the install manifest. */
export function idOf(assistant: AssistantSettings): string {
  return `hooks:${assistant.id}`;
}

export function commandsOf(deps: Pick<HookInstallDeps, 'area' | 'host'>): ShimCommands {
  return shimCommands(shimPath({ bin: deps.area.bin, host: deps.host }), deps.host);
}

export function manifestDeps({ area, clock, machineId }: HookInstallDeps) {
  return { path: area.installManifest, lockPath: join(area.machine, 'install.lock'), clock, machineId };
}
