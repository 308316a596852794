import { dirname } from 'node:path';

import { StewardError, toStewardError } from '../errors';
import { exists, removeEmptyFolder, removeFile } from '../platform/files/folder';
import {
  removeMadeFolders,
  sha256,
  withInstallManifest,
  type InstallEntry,
  type InstallManifest,
} from '../platform/files/install-manifest';
import { CLAUDE_CODE } from '../sessions/session-key';
import type { Assistant } from './assistant';
import { strangersIn, removeHooks } from './settings-hooks';
import {
  isAssistantEntry,
  ATTEMPTS,
  busy,
  commandsOf,
  hooksAddedBy,
  idOf,
  shimDeps,
  type HookInstallDeps,
} from './install-deps';
import { contentOf, isOurs, ownText } from './own-file';
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

export type HooksUninstalled = Awaited<ReturnType<typeof uninstallAllHooks>>['result'];

/**
 * Removes steward's entries from all settings files of the assistants. If a file hasn't changed since the install,
 * restores its original content. Continues after a failure.
 */
export async function uninstallAllHooks(
  deps: HookInstallDeps,
  { assistants, dryRun }: { assistants: readonly Assistant[]; dryRun: boolean },
) {
  const failures: unknown[] = [];
  const ids = assistants.map(idOf);
  const shim = shimDeps(deps);
  const uninstall = (manifest: InstallManifest) => {
    const files: RemovedFrom[] = [];
    let skill: SkillResult = { path: '', changed: [], left: [] };
    for (const assistant of assistants) {
      try {
        // Remove the skill first, because the settings folder is deleted only if it is empty.
        if (assistant.id === CLAUDE_CODE) skill = removeSkill(deps, assistant, manifest);
        files.push(...removeAll(deps, assistant, manifest));
      } catch (error) {
        failures.push(notRemoved(assistant, error));
      }
    }
    const isLast =
      failures.length === 0 &&
      !manifest.entries().some(({ id }) => isAssistantEntry(id) && !ids.includes(id));
    const isGone = (): boolean =>
      dryRun ? exists(shimPath(shim)) : removeShim({ ...shim, clock: deps.clock }, manifest);
    return {
      assistant: assistants[0]?.id ?? CLAUDE_CODE,
      /** The settings files of the assistants, including those of earlier installs. */
      settings: files.map(({ path, entries, removed }) => ({ path, entries, removed })),
      /** The change to the status line; null if the status line wasn't steward's. */
      statusLine: files.find(({ statusLine }) => statusLine !== null)?.statusLine ?? null,
      shim: { path: shimPath(shim), removed: isLast && isGone() },
      skill,
      /** Items that weren't removed: the user's own commands that run the shim, and edited backups. */
      left: [...files.flatMap(({ left }) => left), ...skill.left],
      /** Commands that run another user area's hooks. */
      strangers: files.flatMap(({ strangers }) => strangers),
      dryRun,
    };
  };
  return { result: await withInstallManifest(deps, uninstall, { dryRun }), failures };
}

function removeAll(deps: HookInstallDeps, assistant: Assistant, manifest: InstallManifest): RemovedFrom[] {
  const id = idOf(assistant);
  const ours = manifest.entries().filter((entry) => entry.id === id);
  const paths = [...new Set([assistant.path(deps.host), ...ours.map(({ path }) => path)])];
  const files = paths.map((path) => {
    const entry = ours.find((known) => known.path === path);
    const removal: Removal = { deps, assistant, isDry: manifest.isDry, path, entry };
    return assistant.ownFile === undefined ? removeFrom(removal) : removeOwnFile(removal);
  });
  if (assistant.ownFile !== undefined && !manifest.isDry) removeMadeFolders(ours);
  for (const path of paths) manifest.forget(id, path);
  return files;
}

function notRemoved({ title }: Assistant, error: unknown): StewardError {
  const { kind, message, hint } = toStewardError(error);
  return new StewardError(kind, `${title}'s hooks were not removed. ${message}`, { hint, cause: error });
}

interface Removal {
  deps: HookInstallDeps;
  assistant: Assistant;
  isDry: boolean;
  path: string;
  entry: InstallEntry | undefined;
}

function removeOwnFile({ deps, assistant, isDry, path, entry }: Removal): RemovedFrom {
  const found = contentOf(path);
  const removed = found !== undefined && (found === ownText(deps, assistant) || isOurs(found, entry));
  if (removed && !isDry) removeFile(path);
  const left = removed || found === undefined ? [] : [path];
  return {
    path,
    removed,
    entries: removed ? assistant.hooks.length : 0,
    statusLine: null,
    left,
    strangers: [],
  };
}

interface RemovedFrom {
  path: string;
  entries: number;
  statusLine: StatusLineRemoved['result'];
  removed: boolean;
  left: string[];
  strangers: string[];
}

function removeFrom(removal: Removal): RemovedFrom {
  const { deps, isDry, path, entry } = removal;
  const known = entry === undefined ? undefined : hooksAddedBy(entry);
  if (!isDry) sweepSettings(path, deps.clock.now());
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const source = readSettings(path);
    const { text, isEmpty, ...found } = without(removal, source);
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

function without(
  { deps, assistant, path, entry }: Removal,
  source: string | undefined,
): { text: string | undefined } & Omit<RemovedFrom, 'path' | 'removed'> & { isEmpty: boolean } {
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
