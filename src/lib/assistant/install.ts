import { dirname, join, sep } from 'node:path';

import type { UserArea } from '../config/user-area';
import { StewardError } from '../errors';
import { ensureFolder, exists } from '../platform/files/folder';
import {
  type Backup,
  type InstallEntry,
  type InstallManifest,
  readInstallManifest,
  sha256,
  withInstallManifest,
} from '../platform/files/install-manifest';
import type { PathHost } from '../platform/files/paths';
import { type Clock, toIso } from '../platform/time/clock';
import type { AssistantSettings } from './claude-code-settings';
import {
  aboutSettings,
  backupOf,
  readSettings,
  removeBackup,
  sweepSettings,
  writeBackup,
  writeSettings,
} from './settings-file';
import { addHooks, eventsWithHooks, removeHooks, strangersIn, topValue, type Added } from './settings-hooks';
import {
  type ShimCommands,
  type ShimDeps,
  isShimCurrent,
  removeShim,
  shimCommands,
  shimPath,
  writeShim,
} from './shim';
import { addStatusLine, removeStatusLine, type StatusLineInstall } from './settings-statusline';
import { type SkillResult, installSkill } from './skill';

export interface InstallResult {
  assistant: string;
  settings: string;
  /** Events that got an entry (in a dry run: would get one). */
  added: string[];
  /** Events that already had one. */
  kept: string[];
  /** The backup of the settings; null if they were missing or did not change. */
  backup: string | null;
  shim: { path: string; written: boolean };
  /** The work skill; null if not requested. */
  skill: SkillResult | null;
  /** The change to the assistant's status line; null if not requested. */
  statusLine: StatusLineInstall | null;
  dryRun: boolean;
  warnings: string[];
}

const KEPT_BACKUPS = 3;
/** The assistant may write its settings between our read and our write. */
export const ATTEMPTS = 5;

/**
 * Writes the shim, then adds an entry for each event that has none of ours. Every other byte of the settings stays,
 * and a second install changes nothing. Unreadable settings are `config`.
 */
export async function installHooks(
  deps: HookInstallDeps,
  input: { assistant: AssistantSettings; dryRun: boolean; skill?: boolean; statusLine?: boolean },
): Promise<InstallResult> {
  const { assistant, dryRun } = input;
  const withLine = input.statusLine === true;
  const path = assistant.path(deps.host);
  const shim = shimDeps(deps);
  const { hooks } = assistant;
  const source = readSettings(path);
  const plan = planFor(deps, assistant, source, withLine);
  const result = {
    assistant: assistant.id,
    settings: path,
    added: plan.events,
    kept: hooks.map(({ event }) => event).filter((event) => !plan.events.includes(event)),
    backup: !plan.changes || source === undefined ? null : backupFor(deps, path, source).path,
    shim: { path: shimPath(shim), written: !isShimCurrent(shim) },
    skill: input.skill === true ? installSkill(deps, assistant, undefined, entriesOf(deps)) : null,
    statusLine: plan.statusLine,
    dryRun,
    warnings: warningsFor(deps, assistant, source, plan.statusLine),
  };
  if (dryRun) return result;
  ensureFolder(deps.area.root, { allowLink: true });
  return withInstallManifest(manifestDeps(deps), (manifest) => {
    const written = writeShim({ ...shim, clock: deps.clock, machineId: deps.machineId }, manifest);
    const earlier = manifest.find(idOf(assistant), path);
    const { events, statusLine, backup } = orTakeBack(path, {
      work() {
        sweepSettings(path, deps.clock.now());
        return addTo(deps, assistant, manifest, withLine);
      },
      takeBack() {
        if (earlier !== undefined || plan.events.length < hooks.length) return;
        for (const made of manifest.find(idOf(assistant), path)?.backups ?? []) removeBackup(made);
        manifest.forget(idOf(assistant), path);
        if (written) removeShim({ ...shim, clock: deps.clock }, manifest);
      },
    });
    return {
      ...result,
      added: events,
      kept: hooks.map(({ event }) => event).filter((event) => !events.includes(event)),
      backup: backup?.path ?? null,
      shim: { ...result.shim, written },
      skill: input.skill === true ? installSkill(deps, assistant, manifest, manifest.entries()) : null,
      statusLine,
    };
  });
}

/** Undoes a first install if the settings cannot be written. */
function orTakeBack<T>(path: string, { work, takeBack }: { work: () => T; takeBack: () => void }): T {
  try {
    return work();
  } catch (error) {
    takeBack();
    throw aboutSettings(path, error);
  }
}

/** Returns the events that have our entry in the current settings. */
export function installedEvents(
  deps: Pick<HookInstallDeps, 'area' | 'host'>,
  assistant: AssistantSettings,
): string[] {
  const path = assistant.path(deps.host);
  const source = readSettings(path);
  return source === undefined ? [] : eventsWithHooks(source, path, assistant.hooks, commandsOf(deps));
}

interface Plan extends Added {
  statusLine: StatusLineInstall | null;
  /** The raw JSON of the status line that is replaced: see `AddedHooks`. */
  lineBefore: string | null | undefined;
  changes: boolean;
}

/** The settings as the install leaves them. */
function planFor(
  deps: HookInstallDeps,
  assistant: AssistantSettings,
  source: string | undefined,
  withLine: boolean,
): Plan {
  const path = assistant.path(deps.host);
  const commands = commandsOf(deps);
  const hooks = addHooks(source, path, assistant.hooks, commands);
  const line = withLine ? addStatusLine(hooks.text, path, assistant.statusLineKey, commands) : undefined;
  return {
    ...hooks,
    text: line?.text ?? hooks.text,
    statusLine: line?.result ?? null,
    lineBefore: line?.before,
    changes: hooks.events.length > 0 || line?.before !== undefined,
  };
}

function addTo(
  deps: HookInstallDeps,
  assistant: AssistantSettings,
  manifest: InstallManifest,
  withLine: boolean,
): Pick<Plan, 'events' | 'statusLine'> & { backup: Backup | undefined } {
  const path = assistant.path(deps.host);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const source = readSettings(path);
    const added = planFor(deps, assistant, source, withLine);
    const { events, statusLine } = added;
    if (!added.changes) return { events, statusLine, backup: undefined };
    const at = toIso(deps.clock.now());
    const backup = source === undefined ? undefined : backupFor(deps, path, source);
    const earlier = manifest.find(idOf(assistant), path);
    const { entry, outdated } = entryFor({ deps, assistant, path, source, added, at, backup, earlier });
    manifest.record(entry);
    ensureFolder(dirname(path), { allowLink: true });
    if (backup !== undefined && source !== undefined) writeBackup(backup, source);
    if (readSettings(path) !== source) continue;
    writeSettings(path, added.text);
    for (const old of outdated) removeBackup(old);
    return { events, statusLine, backup };
  }
  throw busy(path);
}

function holdsOurs(deps: HookInstallDeps, assistant: AssistantSettings, source: string): boolean {
  const path = assistant.path(deps.host);
  const commands = commandsOf(deps);
  const line = { key: assistant.statusLineKey, commands, before: undefined };
  return (
    removeHooks(source, path, commands, []).entries > 0 ||
    removeStatusLine(source, path, line).result !== null
  );
}

function backupFor({ clock }: Pick<HookInstallDeps, 'clock'>, path: string, source: string): Backup {
  return backupOf(path, source, toIso(clock.now()));
}

/** Returns the manifest entry, merged with that of an earlier install. */
function entryFor(input: {
  deps: HookInstallDeps;
  assistant: AssistantSettings;
  path: string;
  source: string | undefined;
  added: Plan;
  at: string;
  backup: Backup | undefined;
  earlier: InstallEntry | undefined;
}): { entry: InstallEntry; outdated: Backup[] } {
  const { deps, assistant, path, source, added, at, backup, earlier } = input;
  // With entries of ours in place, the containers created for them are still ours to remove.
  const isFirst = source === undefined || !holdsOurs(deps, assistant, source);
  const isUntouched = source !== undefined && earlier?.after === sha256(source);
  const before = isFirst ? undefined : earlier;
  const known = before === undefined ? undefined : hooksAddedBy(before);
  const madeFolder = earlier !== undefined && hooksAddedBy(earlier).createdFolder;
  const backups = [...(earlier?.backups ?? []), ...(backup === undefined ? [] : [backup])].filter(
    ({ path: name }, index, all) => all.findIndex((other) => other.path === name) === index,
  );
  const entry: InstallEntry = {
    id: idOf(assistant),
    kind: KIND,
    path,
    added: {
      created: [...new Set([...(known?.created ?? []), ...added.created])],
      createdFile: source === undefined || known?.createdFile === true,
      createdFolder: !exists(dirname(path)) || madeFolder,
      statusLine: added.lineBefore === undefined ? known?.statusLine : added.lineBefore,
    },
    before: isFirst ? (source === undefined ? null : sha256(source)) : isUntouched ? earlier.before : null,
    after: isFirst || isUntouched ? sha256(added.text) : null,
    backups: backups.slice(-KEPT_BACKUPS),
    at,
    machine: deps.machineId,
  };
  return { entry, outdated: backups.slice(0, -KEPT_BACKUPS) };
}

function warningsFor(
  deps: HookInstallDeps,
  assistant: AssistantSettings,
  source: string | undefined,
  statusLine: StatusLineInstall | null,
): string[] {
  const path = assistant.path(deps.host);
  const isOff = source !== undefined && topValue(source, path, assistant.switchedOffBy) === true;
  const strangers = source === undefined ? [] : strangersIn(source, path, commandsOf(deps));
  return [
    ...(deps.product.root.includes(`${sep}_npx${sep}`)
      ? [
          'This steward runs from the npx cache, which npm may empty. Install it with "npm install --global" to keep the hooks working.',
        ]
      : []),
    ...(isOff
      ? [
          `The settings disable all hooks: ${assistant.switchedOffBy} is true. steward records nothing until you change that.`,
        ]
      : []),
    ...(strangers.length > 0
      ? [`Hooks of another user area are registered too and also record each event: ${strangers[0] ?? ''}`]
      : []),
    ...(statusLine === 'unsupported'
      ? [
          `The status line in ${path} stays as it is: its command cannot be quoted for Windows. Move it to a script and run this again.`,
        ]
      : []),
  ];
}

export function busy(path: string): StewardError {
  return new StewardError('conflict', `${path} changed during every attempt to write it.`, {
    hint: 'Close the program that writes it, then retry.',
  });
}

/** The dependencies of install, status and uninstall. */
export interface HookInstallDeps {
  area: Pick<UserArea, 'root' | 'bin' | 'installManifest' | 'machine'>;
  clock: Clock;
  machineId: string;
  host: PathHost;
  /** The folder of steward's package.json, and the node that runs it. */
  product: { root: string; node: string };
}

/** The additions to a settings file, as in the manifest. */
export interface AddedHooks {
  created: string[];
  createdFile: boolean;
  createdFolder: boolean;
  /** The raw JSON of the status line before the install; null: there was none, undefined: not replaced. */
  statusLine: string | null | undefined;
}

/** The kind of manifest entries for settings files. */
export const KIND = 'settings-entries';

/** Returns this machine's manifest entries, without creating anything. */
export function entriesOf(deps: Pick<HookInstallDeps, 'area' | 'machineId'>): InstallEntry[] {
  const { installManifest } = deps.area;
  return exists(installManifest) ? readInstallManifest(installManifest, deps.machineId) : [];
}

export function shimDeps({ area, host, product }: Omit<HookInstallDeps, 'clock' | 'machineId'>): ShimDeps {
  const isDefault = (host.env['STEWARD_HOME'] ?? '') === '';
  return { bin: area.bin, host, product, area: isDefault ? undefined : area.root };
}

export function hooksAddedBy({ added }: InstallEntry): AddedHooks {
  const { created, statusLine } = added;
  return {
    created: Array.isArray(created) ? created.map(String) : [],
    createdFile: added['createdFile'] === true,
    createdFolder: added['createdFolder'] === true,
    statusLine: typeof statusLine === 'string' || statusLine === null ? statusLine : undefined,
  };
}

/** Returns the id of the assistant's manifest entry. */
export function idOf(assistant: AssistantSettings): string {
  return `hooks:${assistant.id}`;
}

export function commandsOf(deps: Pick<HookInstallDeps, 'area' | 'host'>): ShimCommands {
  return shimCommands(shimPath({ bin: deps.area.bin, host: deps.host }), deps.host);
}

export function manifestDeps({ area, clock, machineId }: HookInstallDeps) {
  return { path: area.installManifest, lockPath: join(area.machine, 'install.lock'), clock, machineId };
}
