import { dirname, sep } from 'node:path';

import { ensureFolder, exists } from '../platform/files/folder';
import {
  type Backup,
  type InstallEntry,
  type InstallManifest,
  sha256,
  withInstallManifest,
} from '../platform/files/install-manifest';
import { toIso } from '../platform/time/clock';
import { CLAUDE_CODE } from '../sessions/session-key';
import type { Assistant } from './assistant';
import {
  ATTEMPTS,
  busy,
  commandsOf,
  entriesOf,
  hooksAddedBy,
  idOf,
  KIND,
  manifestDeps,
  shimDeps,
  type HookInstallDeps,
} from './install-deps';
import { hasOwnFile, isOwnFileDue, writeOwnFile } from './own-file';
import {
  aboutSettings,
  backupOf,
  readSettings,
  removeBackup,
  sweepSettings,
  writeBackup,
  writeSettings,
} from './settings-file';
import {
  addHooks,
  eventsWithHooks,
  isSwitchedOff,
  removeHooks,
  strangersIn,
  type Added,
} from './settings-hooks';
import { isShimCurrent, removeShim, shimPath, writeShim } from './shim';
import { addStatusLine, removeStatusLine, type StatusLineInstall } from './settings-statusline';
import { type SkillResult, installSkill } from './skill';

export interface InstallResult {
  assistant: string;
  settings: string;
  /** Events that got an entry, or would in a dry run. */
  added: string[];
  /** Events that already had an entry. */
  kept: string[];
  /** The settings' backup; null if the settings were missing or unchanged. */
  backup: string | null;
  shim: { path: string; written: boolean };
  /** The work skill, or null if not requested. */
  skill: SkillResult | null;
  /** The change to the assistant's status line, or null if not requested. */
  statusLine: StatusLineInstall | null;
  dryRun: boolean;
  warnings: string[];
}

const KEPT_BACKUPS = 3;

/**
 * Writes the shim, then adds an entry for each event without one of steward's. Leaves every other byte of the
 * settings unchanged; a second install changes nothing. Throws `config` if the settings can't be read.
 */
export async function installHooks(
  deps: HookInstallDeps,
  input: { assistant: Assistant; dryRun: boolean; skill?: boolean; statusLine?: boolean },
): Promise<InstallResult> {
  const { assistant, dryRun } = input;
  if (assistant.ownFile !== undefined) return installOwnFile(deps, assistant, dryRun);
  const withLine = input.statusLine === true && assistant.statusLineKey !== undefined;
  const isSkilled = input.skill === true && assistant.id === CLAUDE_CODE;
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
    skill: isSkilled ? installSkill(deps, assistant, undefined, entriesOf(deps)) : null,
    statusLine: plan.statusLine,
    dryRun,
    warnings: warningsFor(deps, assistant, source, {
      statusLine: plan.statusLine,
      isNew: plan.events.length > 0,
    }),
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
      skill: isSkilled ? installSkill(deps, assistant, manifest, manifest.entries()) : null,
      statusLine,
    };
  });
}

/** Installs the hooks of several assistants. One that fails does not stop the others. */
export async function installEach(
  deps: HookInstallDeps,
  assistants: readonly Assistant[],
  options: { dryRun: boolean; skill?: boolean; statusLine?: boolean },
): Promise<{ results: InstallResult[]; failures: unknown[] }> {
  const results: InstallResult[] = [];
  const failures: unknown[] = [];
  for (const assistant of assistants) {
    try {
      results.push(await installHooks(deps, { assistant, ...options }));
    } catch (error) {
      failures.push(error);
    }
  }
  return { results, failures };
}

/** Writes the shim and the file that the assistant loads in addition to the user's settings. */
async function installOwnFile(
  deps: HookInstallDeps,
  assistant: Assistant,
  dryRun: boolean,
): Promise<InstallResult> {
  const shim = shimDeps(deps);
  const events = assistant.hooks.map(({ event }) => event);
  const resultOf = (isDue: boolean, isShimDue: boolean): InstallResult => ({
    assistant: assistant.id,
    settings: assistant.path(deps.host),
    added: isDue ? events : [],
    kept: isDue ? [] : events,
    backup: null,
    shim: { path: shimPath(shim), written: isShimDue },
    skill: null,
    statusLine: null,
    dryRun,
    warnings: warningsFor(deps, assistant, undefined, { statusLine: null, isNew: isDue }),
  });
  const isDue = isOwnFileDue(deps, assistant, entriesOf(deps));
  if (dryRun) return resultOf(isDue, !isShimCurrent(shim));
  ensureFolder(deps.area.root, { allowLink: true });
  return withInstallManifest(manifestDeps(deps), (manifest) => {
    const written = writeShim({ ...shim, clock: deps.clock, machineId: deps.machineId }, manifest);
    if (isOwnFileDue(deps, assistant, manifest.entries())) writeOwnFile(deps, assistant, manifest);
    return resultOf(isDue, written);
  });
}

/** Undoes a first install after a failure to write the settings. */
function orTakeBack<T>(path: string, { work, takeBack }: { work: () => T; takeBack: () => void }): T {
  try {
    return work();
  } catch (error) {
    takeBack();
    throw aboutSettings(path, error);
  }
}

/** Returns the events that have steward's entry in the current settings. */
export function installedEvents(
  deps: Omit<HookInstallDeps, 'clock' | 'machineId'>,
  assistant: Assistant,
): string[] {
  if (assistant.ownFile !== undefined)
    return hasOwnFile(deps, assistant) ? assistant.hooks.map(({ event }) => event) : [];
  const path = assistant.path(deps.host);
  const source = readSettings(path);
  return source === undefined ? [] : eventsWithHooks(source, path, assistant, commandsOf(deps));
}

interface Plan extends Added {
  statusLine: StatusLineInstall | null;
  /** The raw JSON of the replaced status line; see `AddedHooks`. */
  lineBefore: string | null | undefined;
  changes: boolean;
}

/** Returns the settings after the install. */
function planFor(
  deps: HookInstallDeps,
  assistant: Assistant,
  source: string | undefined,
  withLine: boolean,
): Plan {
  const path = assistant.path(deps.host);
  const commands = commandsOf(deps);
  const hooks = addHooks(source, path, assistant, commands);
  const { statusLineKey } = assistant;
  const line =
    withLine && statusLineKey !== undefined
      ? addStatusLine(hooks.text, path, statusLineKey, commands)
      : undefined;
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
  assistant: Assistant,
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

function holdsOurs(deps: HookInstallDeps, assistant: Assistant, source: string): boolean {
  const path = assistant.path(deps.host);
  const commands = commandsOf(deps);
  const { statusLineKey: key } = assistant;
  return (
    removeHooks(source, path, { assistant, commands, created: [] }).entries > 0 ||
    (key !== undefined &&
      removeStatusLine(source, path, { key, commands, before: undefined }).result !== null)
  );
}

function backupFor({ clock }: Pick<HookInstallDeps, 'clock'>, path: string, source: string): Backup {
  return backupOf(path, source, toIso(clock.now()));
}

/** Returns the manifest entry, merged with an earlier install's entry. */
function entryFor(input: {
  deps: HookInstallDeps;
  assistant: Assistant;
  path: string;
  source: string | undefined;
  added: Plan;
  at: string;
  backup: Backup | undefined;
  earlier: InstallEntry | undefined;
}): { entry: InstallEntry; outdated: Backup[] } {
  const { deps, assistant, path, source, added, at, backup, earlier } = input;
  // If steward has entries there, it also created the containers and may remove them.
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
  assistant: Assistant,
  source: string | undefined,
  { statusLine, isNew }: { statusLine: StatusLineInstall | null; isNew: boolean },
): string[] {
  const path = assistant.path(deps.host);
  const isOff = source !== undefined && isSwitchedOff(source, path, assistant);
  const strangers = source === undefined ? [] : strangersIn(source, path, assistant, commandsOf(deps));
  return [
    ...(deps.product.root.includes(`${sep}_npx${sep}`)
      ? [
          'This steward runs from the npx cache, which npm may empty. Install it with "npm install --global" to keep the hooks working.',
        ]
      : []),
    ...(isOff
      ? [
          `The settings disable all hooks: ${assistant.switchedOffBy ?? ''} is true. steward records nothing until you change that.`,
        ]
      : []),
    ...(strangers.length > 0
      ? [`Hooks of another user area are registered too and also record each event: ${strangers[0] ?? ''}`]
      : []),
    ...(assistant.pending === undefined || !isNew ? [] : [`${assistant.title}: ${assistant.pending}.`]),
    ...(statusLine === 'unsupported'
      ? [
          `The status line in ${path} stays as it is: its command cannot be quoted for Windows. Move it to a script and run this again.`,
        ]
      : []),
  ];
}
