import { basename, dirname, join } from 'node:path';

import { sweepTemps } from '../platform/files/atomic-file';
import { exists, removeFile } from '../platform/files/folder';
import { removeMadeFolders, writeRecorded, type InstallManifest } from '../platform/files/install-manifest';
import type { Assistant } from './assistant';
import type { HookInstallDeps } from './install-deps';
import { readTemplate } from '../platform/files/template';
import { isOurs, contentOf } from './own-file';

/** The result of installing or removing the skill. */
export interface SkillResult {
  path: string;
  /** Files that were written or removed. In a dry run, files that would change. */
  changed: string[];
  /** Files that the user wrote or edited. steward doesn't replace or remove them. */
  left: string[];
}

const NAME = 'work';
const MANIFEST_ID = 'skill:work';
const FILES = [
  'SKILL.md',
  'Workflows/CheckTasks.md',
  'Workflows/AddReminder.md',
  'Workflows/CreateIssue.md',
  'Workflows/UpdateTaskList.md',
];

type SkillDeps = Pick<HookInstallDeps, 'host' | 'product' | 'clock' | 'machineId'>;

export function skillPath(deps: Pick<SkillDeps, 'host'>, assistant: Assistant): string {
  return join(dirname(assistant.path(deps.host)), 'skills', NAME);
}

/** Returns whether any version of the skill is installed. */
export function hasSkill(deps: Pick<SkillDeps, 'host'>, assistant: Assistant): boolean {
  return exists(join(skillPath(deps, assistant), 'SKILL.md'));
}

/**
 * Installs the work skill and records it in the manifest. Doesn't replace files that the user wrote or
 * edited.
 */
export function installSkill(deps: SkillDeps, assistant: Assistant, manifest: InstallManifest): SkillResult {
  const root = skillPath(deps, assistant);
  const result: SkillResult = { path: root, changed: [], left: [] };
  for (const name of FILES) {
    const path = join(root, ...name.split('/'));
    const text = readTemplate(deps.product.root, `skills/${NAME}/${name}`);
    const found = contentOf(path);
    if (found === text) continue;
    if (found !== undefined && !isOurs(found, manifest.find(MANIFEST_ID, path))) result.left.push(path);
    else {
      result.changed.push(path);
      writeRecorded(manifest, { id: MANIFEST_ID, path, text, was: found || undefined }, deps);
    }
  }
  return result;
}

/** Removes the work skill, except files that the user edited. */
export function removeSkill(
  deps: Pick<SkillDeps, 'host' | 'clock'>,
  assistant: Assistant,
  manifest: InstallManifest,
): SkillResult {
  const result: SkillResult = { path: skillPath(deps, assistant), changed: [], left: [] };
  const own = manifest.entries().filter(({ id }) => id === MANIFEST_ID);
  for (const entry of own) {
    const { path } = entry;
    if (!manifest.isDry && exists(dirname(path)))
      sweepTemps(dirname(path), -1, deps.clock.now(), basename(path));
    const found = contentOf(path);
    if (found === undefined) continue;
    const ours = isOurs(found, entry);
    (ours ? result.changed : result.left).push(path);
    if (ours && !manifest.isDry) removeFile(path);
  }
  if (manifest.isDry) return result;
  removeMadeFolders(own);
  for (const { path } of own) manifest.forget(MANIFEST_ID, path);
  return result;
}
