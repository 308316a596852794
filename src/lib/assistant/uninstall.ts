import { dirname } from 'node:path';

import { exists, removeEmptyFolder } from '../platform/files/folder';
import { sha256, withInstallManifest, type InstallEntry } from '../platform/files/install-manifest';
import type { AssistantSettings } from './claude-code-settings';
import { strangersIn, removeHooks } from './settings-hooks';
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
} from './install';
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

export interface UninstallResult {
  assistant: string;
  /** The assistant's settings file, and those of earlier installs. */
  settings: { path: string; entries: number; removed: boolean }[];
  /** The change to the status line; null if it was not steward's. */
  statusLine: StatusLineRemoved['result'];
  shim: { path: string; removed: boolean };
  /** The work skill. */
  skill: SkillResult;
  /** Commands of the person's own that run the shim, and changed backups; they stay. */
  left: string[];
  /** Commands that run the hooks of another user area. */
  strangers: string[];
  dryRun: boolean;
}

/**
 * Removes what an install added, even if moved, from every settings file of an install. A file that did not change
 * since gets its old bytes back. Unreadable settings are `config`, and then the shim stays too.
 */
export async function uninstallHooks(
  deps: HookInstallDeps,
  input: { assistant: AssistantSettings; dryRun: boolean },
): Promise<UninstallResult> {
  const { assistant, dryRun } = input;
  const id = idOf(assistant);
  const shim = shimDeps(deps);
  const current = assistant.path(deps.host);
  const result = (skill: SkillResult, files: readonly RemovedFrom[], removed: boolean): UninstallResult => ({
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
    const files = filesOf(id, current, entries).map(({ path, entry }) => {
      const found = without({ deps, assistant, path, source: readSettings(path), entry });
      const isOurs = entry !== undefined && hooksAddedBy(entry).createdFile;
      return { path, ...found, removed: isOurs && found.isEmpty };
    });
    const isShared = entries.some(
      (entry) => entry.kind === KIND && !files.some(({ path }) => path === entry.path),
    );
    const skill = removeSkill(deps, assistant, undefined, entries);
    return result(skill, files, exists(shimPath(shim)) && !isShared);
  }
  return withInstallManifest(manifestDeps(deps), (manifest) => {
    // Before the settings, whose folder is removed if empty.
    const skill = removeSkill(deps, assistant, manifest, manifest.entries());
    const files = filesOf(id, current, manifest.entries()).map(({ path, entry }) =>
      removeFrom(deps, assistant, path, entry),
    );
    for (const { path } of files) manifest.forget(id, path);
    const isShared = manifest.entries().some((entry) => entry.kind === KIND);
    return result(skill, files, !isShared && removeShim({ ...shim, clock: deps.clock }, manifest));
  });
}

interface RemovedFrom {
  path: string;
  entries: number;
  statusLine: StatusLineRemoved['result'];
  removed: boolean;
  left: string[];
  strangers: string[];
}

/** Returns the current settings file and those in the manifest. */
function filesOf(
  id: string,
  current: string,
  entries: readonly InstallEntry[],
): { path: string; entry: InstallEntry | undefined }[] {
  const ours = entries.filter((entry) => entry.id === id);
  return [...new Set([current, ...ours.map(({ path }) => path)])].map((path) => ({
    path,
    entry: ours.find((entry) => entry.path === path),
  }));
}

function removeFrom(
  deps: HookInstallDeps,
  assistant: AssistantSettings,
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
    const kept = (entry?.backups ?? []).filter((backup) => !removeBackup(backup));
    if (known?.createdFolder === true) removeEmptyFolder(dirname(path));
    return { path, ...found, removed, left: [...found.left, ...kept.map((backup) => backup.path)] };
  }
  throw busy(path);
}

/** Returns the settings without our entries; `text` is undefined if there is no file. */
function without(input: {
  deps: HookInstallDeps;
  assistant: AssistantSettings;
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
  const line = removeStatusLine(source, path, {
    key: assistant.statusLineKey,
    commands,
    before: added?.statusLine,
  });
  const found = removeHooks(line.text, path, commands, added?.created);
  const strangers = strangersIn(source, path, commands);
  return {
    ...found,
    statusLine: line.result,
    left: [...found.left, ...line.left],
    strangers,
    text: (entry === undefined ? undefined : oldText(entry, source)) ?? found.text,
  };
}

/** Returns the text before the install, if the file has not changed since. */
function oldText(entry: InstallEntry, source: string): string | undefined {
  if (entry.before === null || entry.after !== sha256(source)) return undefined;
  // A killed install may have recorded a backup without writing it.
  const same = entry.backups.filter((backup) => backup.sha256 === entry.before);
  return same.map(readBackup).find((text) => text !== undefined);
}
