import { dirname } from 'node:path';

import { StewardError, toStewardError } from '../errors';
import { exists, removeEmptyFolder } from '../platform/files/folder';
import type { InstallManifest } from '../platform/files/install-manifest';
import { sha256, withInstallManifest, type InstallEntry } from '../platform/files/install-manifest';
import { CLAUDE_CODE } from '../sessions/session-key';
import type { Assistant } from './assistant';
import { strangersIn, removeHooks } from './settings-hooks';
import {
  isAssistantEntry,
  ATTEMPTS,
  busy,
  commandsOf,
  entriesOf,
  hooksAddedBy,
  idOf,
  isShimShared,
  shimDeps,
  type HookInstallDeps,
} from './install-deps';
import { removeOwnFiles } from './own-file';
import { removeShim, shimPath } from './shim';
import { removeStatusLine, type StatusLineRemoved } from './settings-statusline';
import { removeSkill, type SkillResult } from './skill';
import {
  readBackup,
  readSettings,
  removeBackup,
  removeSettings,
  sweepSettings,
  writeSettings,
} from './settings-file';

export interface HooksUninstalled {
  assistant: string;
  /** The settings files of the assistant, including those of earlier installs. */
  settings: { path: string; entries: number; removed: boolean }[];
  /** The change to the status line; null if the status line wasn't steward's. */
  statusLine: StatusLineRemoved['result'];
  shim: { path: string; removed: boolean };
  skill: SkillResult;
  /** Items that weren't removed: the user's own commands that run the shim, and edited backups. */
  left: string[];
  /** Commands that run another user area's hooks. */
  strangers: string[];
  dryRun: boolean;
}

/**
 * Removes steward's entries from all settings files. If a file hasn't changed since the install, restores its
 * original content.
 */
export async function uninstallHooks(
  deps: HookInstallDeps,
  { assistant, dryRun }: { assistant: Assistant; dryRun: boolean },
): Promise<HooksUninstalled> {
  const id = idOf(assistant);
  const shim = shimDeps(deps);
  const uninstall = (manifest: InstallManifest): HooksUninstalled => {
    // Remove the skill first, because the settings folder is deleted only if it is empty.
    const skill = assistant.id === CLAUDE_CODE ? removeSkill(deps, assistant, manifest) : NO_SKILL;
    const files =
      assistant.ownFile === undefined
        ? filesOf(id, assistant.path(deps.host), manifest.entries()).map((file) =>
            removeFrom(deps, assistant, manifest, file),
          )
        : removeOwnFiles(deps, assistant, manifest).map((file) => ownFileRow(assistant, file));
    for (const { path } of files) manifest.forget(id, path);
    const isLast = !isShimShared(manifest.entries(), assistant);
    const isGone = (): boolean =>
      dryRun ? exists(shimPath(shim)) : removeShim({ ...shim, clock: deps.clock }, manifest);
    return {
      assistant: assistant.id,
      settings: files.map(({ path, entries, removed }) => ({ path, entries, removed })),
      statusLine: files.find(({ statusLine }) => statusLine !== null)?.statusLine ?? null,
      shim: { path: shimPath(shim), removed: isLast && isGone() },
      skill,
      left: [...files.flatMap(({ left }) => left), ...skill.left],
      strangers: files.flatMap(({ strangers }) => strangers),
      dryRun,
    };
  };
  return withInstallManifest(deps, uninstall, { dryRun });
}

/** Removes the hooks of several assistants and merges the results. Continues after a failure. */
export async function uninstallAllHooks(
  deps: HookInstallDeps,
  { assistants, dryRun }: { assistants: readonly Assistant[]; dryRun: boolean },
): Promise<{ result: HooksUninstalled; failures: unknown[] }> {
  const all: HooksUninstalled[] = [];
  const failures: unknown[] = [];
  for (const assistant of assistants) {
    try {
      all.push(await uninstallHooks(deps, { assistant, dryRun }));
    } catch (error) {
      failures.push(notRemoved(assistant, error));
    }
  }
  const shim = shimPath(shimDeps(deps));
  const skills = all.map(({ skill }) => skill);
  // A dry run leaves the manifest unchanged, so ignore the entries that an uninstall would remove.
  const ids = assistants.map(idOf);
  const isLast =
    failures.length === 0 && !entriesOf(deps).some(({ id }) => isAssistantEntry(id) && !ids.includes(id));
  const result: HooksUninstalled = {
    assistant: all[0]?.assistant ?? assistants[0]?.id ?? CLAUDE_CODE,
    settings: all.flatMap(({ settings }) => settings),
    statusLine: all.find(({ statusLine }) => statusLine !== null)?.statusLine ?? null,
    shim: {
      path: shim,
      removed: all.some((one) => one.shim.removed) || (dryRun && isLast && exists(shim)),
    },
    skill: skills.find(({ changed, left }) => changed.length + left.length > 0) ?? skills[0] ?? NO_SKILL,
    left: all.flatMap(({ left }) => left),
    strangers: all.flatMap(({ strangers }) => strangers),
    dryRun,
  };
  return { result, failures };
}

function notRemoved({ title }: Assistant, error: unknown): StewardError {
  const { kind, message, hint } = toStewardError(error);
  return new StewardError(kind, `${title}'s hooks were not removed. ${message}`, { hint, cause: error });
}

function ownFileRow(
  { hooks }: Assistant,
  { path, removed, skipped }: { path: string; removed: boolean; skipped: boolean },
): RemovedFrom {
  return {
    path,
    removed,
    entries: removed ? hooks.length : 0,
    statusLine: null,
    left: skipped ? [path] : [],
    strangers: [],
  };
}

const NO_SKILL: SkillResult = { path: '', changed: [], left: [] };

interface RemovedFrom {
  path: string;
  entries: number;
  statusLine: StatusLineRemoved['result'];
  removed: boolean;
  left: string[];
  strangers: string[];
}

function filesOf(id: string, current: string, entries: readonly InstallEntry[]) {
  const ours = entries.filter((entry) => entry.id === id);
  return [...new Set([current, ...ours.map(({ path }) => path)])].map((path) => ({
    path,
    entry: ours.find((entry) => entry.path === path),
  }));
}

function removeFrom(
  deps: HookInstallDeps,
  assistant: Assistant,
  { isDry }: InstallManifest,
  { path, entry }: ReturnType<typeof filesOf>[number],
): RemovedFrom {
  const known = entry === undefined ? undefined : hooksAddedBy(entry);
  if (!isDry) sweepSettings(path, deps.clock.now());
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const source = readSettings(path);
    const { text, isEmpty, ...found } = without({ deps, assistant, path, source, entry });
    const isOnlyOurs = known?.createdFile === true && isEmpty;
    if (isDry) return { path, ...found, removed: isOnlyOurs };
    if (source !== undefined && readSettings(path) !== source) continue;
    const removed = isOnlyOurs && removeSettings(path);
    if (!removed && text !== undefined && text !== source) writeSettings(path, text);
    const editedBackups = (entry?.backups ?? []).filter((backup) => !removeBackup(backup));
    if (known?.createdFolder === true) removeEmptyFolder(dirname(path));
    return { path, ...found, removed, left: [...found.left, ...editedBackups.map((backup) => backup.path)] };
  }
  throw busy(path);
}

function without(input: {
  deps: HookInstallDeps;
  assistant: Assistant;
  path: string;
  source: string | undefined;
  entry: InstallEntry | undefined;
}): { text: string | undefined } & Omit<RemovedFrom, 'path' | 'removed'> & { isEmpty: boolean } {
  const { deps, assistant, path, source, entry } = input;
  if (source === undefined) {
    return { text: undefined, isEmpty: false, entries: 0, statusLine: null, left: [], strangers: [] };
  }
  const added = entry === undefined ? undefined : hooksAddedBy(entry);
  const commands = commandsOf(deps);
  const { statusLineKey: key } = assistant;
  const line =
    key === undefined
      ? { text: source, result: null, left: [] }
      : removeStatusLine(source, path, { key, commands, before: added?.statusLine });
  const found = removeHooks(line.text, path, { assistant, commands, created: added?.created });
  const strangers = strangersIn(source, path, assistant, commands);
  return {
    ...found,
    statusLine: line.result,
    left: [...found.left, ...line.left],
    strangers,
    text: (entry === undefined ? undefined : oldText(entry, source)) ?? found.text,
  };
}

/**
 * Returns the text from before the install; undefined if the file has changed since, or if there is no
 * backup.
 */
function oldText(entry: InstallEntry, source: string): string | undefined {
  if (entry.before === null || entry.after !== sha256(source)) return undefined;
  // An interrupted install may have recorded a backup without writing it.
  const same = entry.backups.filter((backup) => backup.sha256 === entry.before);
  return same.map(readBackup).find((text) => text !== undefined);
}
