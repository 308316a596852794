import { dirname } from 'node:path';

import { StewardError, toStewardError } from '../errors';
import { exists, removeEmptyFolder } from '../platform/files/folder';
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
  manifestDeps,
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
  const isSkilled = assistant.id === CLAUDE_CODE;
  const shim = shimDeps(deps);
  const current = assistant.path(deps.host);
  const result = (skill: SkillResult, files: readonly RemovedFrom[], removed: boolean): HooksUninstalled => ({
    assistant: assistant.id,
    settings: files.map((file) => ({ path: file.path, entries: file.entries, removed: file.removed })),
    statusLine: files.find(({ statusLine }) => statusLine !== null)?.statusLine ?? null,
    shim: { path: shimPath(shim), removed },
    skill,
    left: [...files.flatMap(({ left }) => left), ...skill.left],
    strangers: files.flatMap(({ strangers }) => strangers),
    dryRun,
  });
  if (dryRun) {
    const entries = entriesOf(deps);
    if (assistant.ownFile !== undefined) {
      const files = removeOwnFiles(deps, assistant, undefined, entries).map((file) =>
        ownFileRow(assistant, file),
      );
      return result(NO_SKILL, files, exists(shimPath(shim)) && !isShimShared(entries, assistant));
    }
    const files = filesOf(id, current, entries).map(({ path, entry }) => {
      const found = without({ deps, assistant, path, source: readSettings(path), entry });
      const isOurs = entry !== undefined && hooksAddedBy(entry).createdFile;
      return { path, ...found, removed: isOurs && found.isEmpty };
    });
    const skill = isSkilled ? removeSkill(deps, assistant, undefined, entries) : NO_SKILL;
    return result(skill, files, exists(shimPath(shim)) && !isShimShared(entries, assistant));
  }
  return withInstallManifest(manifestDeps(deps), (manifest) => {
    const isOwn = assistant.ownFile !== undefined;
    // Remove the skill first, because the settings folder is deleted only if it is empty.
    const skill = isSkilled ? removeSkill(deps, assistant, manifest, manifest.entries()) : NO_SKILL;
    const files = isOwn
      ? removeOwnFiles(deps, assistant, manifest, manifest.entries()).map((file) =>
          ownFileRow(assistant, file),
        )
      : filesOf(id, current, manifest.entries()).map(({ path, entry }) =>
          removeFrom(deps, assistant, path, entry),
        );
    for (const { path } of files) manifest.forget(id, path);
    const isLast = !isShimShared(manifest.entries(), assistant);
    return result(skill, files, isLast && removeShim({ ...shim, clock: deps.clock }, manifest));
  });
}

/** Removes the hooks of several assistants and merges the results. Continues after a failure. */
export async function uninstallAllHooks(
  deps: HookInstallDeps,
  { assistants, dryRun }: { assistants: readonly Assistant[]; dryRun: boolean },
): Promise<{ result: HooksUninstalled; failures: unknown[] }> {
  const all: HooksUninstalled[] = [];
  const failures: unknown[] = [];
  const nothing: HooksUninstalled = {
    assistant: assistants[0]?.id ?? CLAUDE_CODE,
    settings: [],
    statusLine: null,
    dryRun,
    shim: { path: shimPath(shimDeps(deps)), removed: false },
    skill: NO_SKILL,
    left: [],
    strangers: [],
  };
  for (const assistant of assistants) {
    try {
      all.push(await uninstallHooks(deps, { assistant, dryRun }));
    } catch (error) {
      failures.push(notRemoved(assistant, error));
    }
  }
  const [first = nothing] = all;
  // A dry run leaves the manifest unchanged, so ignore the entries that an uninstall would remove.
  const ids = assistants.map(idOf);
  const isLast =
    failures.length === 0 && !entriesOf(deps).some(({ id }) => isAssistantEntry(id) && !ids.includes(id));
  const result: HooksUninstalled = {
    ...first,
    settings: all.flatMap(({ settings }) => settings),
    statusLine: all.find(({ statusLine }) => statusLine !== null)?.statusLine ?? null,
    shim: {
      ...first.shim,
      removed: all.some(({ shim }) => shim.removed) || (dryRun && isLast && exists(first.shim.path)),
    },
    skill: all.find(({ skill }) => skill.changed.length + skill.left.length > 0)?.skill ?? first.skill,
    left: all.flatMap(({ left }) => left),
    strangers: all.flatMap(({ strangers }) => strangers),
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
  path: string,
  entry: InstallEntry | undefined,
): RemovedFrom {
  const known = entry === undefined ? undefined : hooksAddedBy(entry);
  sweepSettings(path, deps.clock.now());
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const source = readSettings(path);
    const { text, isEmpty, ...found } = without({ deps, assistant, path, source, entry });
    if (source !== undefined && readSettings(path) !== source) continue;
    const removed = known?.createdFile === true && isEmpty && removeSettings(path);
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
