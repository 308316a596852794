import { dirname } from 'node:path';

import { StewardError } from '../errors';
import { createFile } from '../platform/files/atomic-file';
import { ensureFolder } from '../platform/files/folder';
import { type Backup, type InstallManifest, withInstallManifest } from '../platform/files/install-manifest';
import { toIso } from '../platform/time/clock';
import { CLAUDE_CODE } from '../sessions/session-key';
import type { Assistant } from './assistant';
import { ATTEMPTS, busy, commandsOf, entriesOf, idOf, shimDeps, type HookInstallDeps } from './install-deps';
import { entryFor } from './install-entry';
import { warningsFor } from './install-warnings';
import { hasOwnFile, isOwnFileDue, writeOwnFile } from './own-file';
import {
  aboutSettings,
  backupOf,
  readSettings,
  removeBackup,
  sweepSettings,
  writableMode,
  writeSettings,
} from './settings-file';
import { addHooks, eventsWithHooks, type HooksText } from './settings-hooks';
import { isShimCurrent, removeShim, shimPath, writeShim } from './shim';
import { addStatusLine, type StatusLineInstall } from './settings-statusline';
import { installSkill } from './skill';

export type HooksInstalled = Awaited<ReturnType<typeof installHooks>>;

/**
 * Writes the shim and adds the missing hook entries. Leaves every other byte of the settings unchanged.
 * Throws `config` if the settings can't be read.
 */
export async function installHooks(
  deps: HookInstallDeps,
  input: { assistant: Assistant; dryRun: boolean; skill?: boolean; statusLine?: boolean },
) {
  const { assistant, dryRun } = input;
  const withLine = input.statusLine === true && assistant.statusLineKey !== undefined;
  const isSkilled = input.skill === true && assistant.id === CLAUDE_CODE;
  const path = assistant.path(deps.host);
  const shim = shimDeps(deps);
  const { hooks } = assistant;
  const source = settingsOf(assistant, path);
  const plan = planFor(deps, assistant, source, withLine);
  if (plan.changes && assistant.ownFile === undefined) writableMode(path);
  const warnings = warningsFor(deps, assistant, source, {
    statusLine: plan.statusLine,
    isNew: plan.events.length > 0,
  });
  const add = (manifest: InstallManifest): Added & { written: boolean } => {
    if (dryRun) {
      const backup = !plan.changes || source === undefined ? undefined : backupFor(deps, path, source);
      return { ...plan, backup, written: !isShimCurrent(shim) };
    }
    const written = writeShim({ ...shim, clock: deps.clock, machineId: deps.machineId }, manifest);
    const earlier = manifest.find(idOf(assistant), path);
    try {
      if (assistant.ownFile === undefined) sweepSettings(path, deps.clock.now());
      return { ...addTo(deps, assistant, manifest, withLine), written };
    } catch (error) {
      if (earlier === undefined && plan.events.length === hooks.length) {
        for (const made of manifest.find(idOf(assistant), path)?.backups ?? []) removeBackup(made);
        manifest.forget(idOf(assistant), path);
        if (written) removeShim({ ...shim, clock: deps.clock }, manifest);
      }
      throw aboutSettings(path, error);
    }
  };
  if (!dryRun) ensureFolder(deps.area.root, { allowLink: true });
  const install = (manifest: InstallManifest) => {
    const { events, statusLine, backup, written } = add(manifest);
    return {
      assistant: assistant.id,
      settings: path,
      /** Events whose hooks were added, or would be added in a dry run. */
      added: events,
      /** Events whose hooks were already registered. */
      kept: hooks.map(({ event }) => event).filter((event) => !events.includes(event)),
      /** Path of the settings backup; null if the settings were missing or unchanged. */
      backup: backup?.path ?? null,
      shim: { path: shimPath(shim), written },
      /** The result of installing the work skill; null if not requested. */
      skill: isSkilled ? installSkill(deps, assistant, manifest) : null,
      /** The change to the assistant's status line; null if not requested. */
      statusLine,
      dryRun,
      warnings,
    };
  };
  return withInstallManifest(deps, install, { dryRun });
}

/** Installs the hooks of several assistants. A failed install doesn't stop the others. */
export async function installEach(
  deps: HookInstallDeps,
  assistants: readonly Assistant[],
  options: { dryRun: boolean; skill?: boolean; statusLine?: boolean },
): Promise<{ results: HooksInstalled[]; failures: unknown[] }> {
  refuseUnusable(assistants, options);
  const results: HooksInstalled[] = [];
  const failures: unknown[] = [];
  for (const assistant of assistants) {
    try {
      const result = await installHooks(deps, { assistant, ...options });
      // A dry run doesn't write the shim, so every result would list the shim. List it only once.
      const isAgain = results.some(({ shim }) => shim.written);
      results.push(isAgain ? { ...result, shim: { ...result.shim, written: false } } : result);
    } catch (error) {
      failures.push(error);
    }
  }
  return { results, failures };
}

/** Throws `usage` if no assistant supports a requested part. */
function refuseUnusable(
  assistants: readonly Assistant[],
  { skill, statusLine }: { skill?: boolean; statusLine?: boolean },
): void {
  const flag = skill === true ? '--skill' : '--statusline';
  if ((skill !== true && statusLine !== true) || assistants.some(({ id }) => id === CLAUDE_CODE)) return;
  throw new StewardError('usage', `${flag} works only with Claude Code.`, {
    hint: 'Omit the flag, or add claude-code to --assistant.',
  });
}

/** Returns the events that have a steward entry in the current settings. */
export function installedEvents(deps: Omit<HookInstallDeps, 'clock' | 'machineId'>, assistant: Assistant) {
  if (assistant.ownFile !== undefined)
    return hasOwnFile(deps, assistant) ? assistant.hooks.map(({ event }) => event) : [];
  const path = assistant.path(deps.host);
  const source = readSettings(path);
  return source === undefined ? [] : eventsWithHooks(source, path, assistant, commandsOf(deps));
}

/** Returns the settings to which the hooks are added; undefined if the assistant loads a file of its own. */
function settingsOf({ ownFile }: Assistant, path: string): string | undefined {
  return ownFile === undefined ? readSettings(path) : undefined;
}

interface Plan extends HooksText {
  statusLine: StatusLineInstall | null;
  /** The raw JSON of the replaced status line; see `AddedHooks`. */
  lineBefore: string | null | undefined;
  changes: boolean;
}

function planFor(
  deps: HookInstallDeps,
  assistant: Assistant,
  source: string | undefined,
  withLine: boolean,
): Plan {
  const path = assistant.path(deps.host);
  if (assistant.ownFile !== undefined) {
    const isDue = isOwnFileDue(deps, assistant, entriesOf(deps));
    const events = isDue ? assistant.hooks.map(({ event }) => event) : [];
    return { text: '', events, created: [], statusLine: null, lineBefore: undefined, changes: isDue };
  }
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

type Added = Pick<Plan, 'events' | 'statusLine'> & { backup: Backup | undefined };

function addTo(
  deps: HookInstallDeps,
  assistant: Assistant,
  manifest: InstallManifest,
  withLine: boolean,
): Added {
  const path = assistant.path(deps.host);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const source = settingsOf(assistant, path);
    const added = planFor(deps, assistant, source, withLine);
    const { events, statusLine } = added;
    if (added.changes && assistant.ownFile !== undefined) writeOwnFile(deps, assistant, manifest);
    if (!added.changes || assistant.ownFile !== undefined) return { events, statusLine, backup: undefined };
    const at = toIso(deps.clock.now());
    const backup = source === undefined ? undefined : backupFor(deps, path, source);
    const earlier = manifest.find(idOf(assistant), path);
    const { entry, outdated } = entryFor({ deps, assistant, path, source, added, at, backup, earlier });
    manifest.record(entry);
    ensureFolder(dirname(path), { allowLink: true });
    // Only the user can read a created file. Settings may contain tokens.
    if (backup !== undefined && source !== undefined) createFile(backup.path, source);
    if (readSettings(path) !== source) continue;
    writeSettings(path, added.text);
    for (const old of outdated) removeBackup(old);
    return { events, statusLine, backup };
  }
  throw busy(path);
}

function backupFor({ clock }: Pick<HookInstallDeps, 'clock'>, path: string, source: string): Backup {
  return backupOf(path, source, toIso(clock.now()));
}
