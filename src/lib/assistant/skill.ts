import { basename, dirname, join } from 'node:path';

import { StewardError } from '../errors';
import { readText, sweepTemps } from '../platform/files/atomic-file';
import { exists, lstatOf, removeFile } from '../platform/files/folder';
import {
  removeMadeFolders,
  sha256,
  writeRecorded,
  type InstallEntry,
  type InstallManifest,
} from '../platform/files/install-manifest';
import { readSystemText } from '../platform/files/system-files';
import type { AssistantSettings } from './claude-code-settings';
import type { HookInstallDeps } from './install';

/** What came of the files of the skill. */
export interface SkillResult {
  /** Its folder. */
  path: string;
  /** Files that were written or removed (in a dry run: would be). */
  changed: string[];
  /** Files that somebody wrote or changed: left as they are. */
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
const MAX_BYTES = 64 * 1024;

type SkillDeps = Pick<HookInstallDeps, 'host' | 'product' | 'clock' | 'machineId'>;

/** Where an assistant looks for the skill. */
export function skillPath(deps: Pick<SkillDeps, 'host'>, assistant: AssistantSettings): string {
  return join(dirname(assistant.path(deps.host)), 'skills', NAME);
}

/** Is the skill there, in whatever version? */
export function hasSkill(deps: Pick<SkillDeps, 'host'>, assistant: AssistantSettings): boolean {
  return exists(join(skillPath(deps, assistant), 'SKILL.md'));
}

/**
 * Writes the work skill, each file recorded first. A file that is there and that no install of this machine wrote, or
 * that was changed since, stays. Without a manifest nothing is written: what would be.
 */
export function installSkill(
  deps: SkillDeps,
  assistant: AssistantSettings,
  manifest: InstallManifest | undefined,
  entries: readonly InstallEntry[],
): SkillResult {
  const root = skillPath(deps, assistant);
  const result: SkillResult = { path: root, changed: [], left: [] };
  for (const name of FILES) {
    const path = join(root, ...name.split('/'));
    const text = templateOf(deps, name);
    const entry = entries.find((one) => one.id === MANIFEST_ID && one.path === path);
    const found = contentOf(path);
    if (found === text) continue;
    if (found !== undefined && !isOurs(found, entry)) result.left.push(path);
    else {
      result.changed.push(path);
      if (manifest !== undefined) {
        const was = found === false ? undefined : found;
        writeRecorded(manifest, { id: MANIFEST_ID, path, text, was, top: dirname(dirname(root)) }, deps);
      }
    }
  }
  return result;
}

/**
 * Removes what `installSkill` wrote, wherever it was written, and the folders that it made for it. A file that was
 * changed since stays, and is the person's from then on. Without a manifest nothing is removed: what would be.
 */
export function removeSkill(
  deps: Pick<SkillDeps, 'host' | 'clock'>,
  assistant: AssistantSettings,
  manifest: InstallManifest | undefined,
  entries: readonly InstallEntry[],
): SkillResult {
  const result: SkillResult = { path: skillPath(deps, assistant), changed: [], left: [] };
  const own = entries.filter(({ id }) => id === MANIFEST_ID);
  for (const entry of own) {
    const { path } = entry;
    // Of an install that was killed.
    if (manifest !== undefined && exists(dirname(path))) {
      sweepTemps(dirname(path), -1, deps.clock.now(), basename(path));
    }
    const found = contentOf(path);
    if (found === undefined) continue;
    const ours = isOurs(found, entry);
    (ours ? result.changed : result.left).push(path);
    if (ours && manifest !== undefined) removeFile(path);
  }
  if (manifest === undefined) return result;
  removeMadeFolders(own);
  for (const { path } of own) manifest.forget(MANIFEST_ID, path);
  return result;
}

/** As an install wrote it: the last one, or the one before where the last was killed before it wrote. */
function isOurs(found: string | false, entry: InstallEntry | undefined): boolean {
  if (found === false || entry === undefined) return false;
  return [entry.after, entry.before].includes(sha256(found));
}

/** The text of a file; undefined: there is none; false: something that is no file of ours, such as a link. */
function contentOf(path: string): string | false | undefined {
  const found = lstatOf(path);
  if (found === undefined) return undefined;
  if (!found.isFile || found.size > MAX_BYTES) return false;
  return readText(path, { maxBytes: MAX_BYTES });
}

function templateOf({ product }: Pick<SkillDeps, 'product'>, name: string): string {
  const path = join(product.root, 'templates', 'skills', NAME, ...name.split('/'));
  const text = readSystemText(path, MAX_BYTES);
  if (text !== undefined) return text;
  throw new StewardError('not_found', `${path} is missing from the installation.`, {
    hint: 'Reinstall steward.',
  });
}
