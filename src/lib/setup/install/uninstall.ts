import { uninstallHooks, type UninstallResult as HooksGone } from '../../assistant/uninstall';
import { toStewardError } from '../../errors';
import { exists } from '../../platform/files/folder';
import {
  readInstallManifest,
  withInstallManifest,
  type InstallEntry,
} from '../../platform/files/install-manifest';
import { JOB_IDS, jobOf, type JobId } from '../../schedule/job';
import { removeMadeFolders } from '../../platform/files/install-manifest';
import { manifestOf, removeRecorded } from '../../shell/completion-install';
import type { Context } from '../../app/context';
import { findDaemon } from '../../app/daemon-client';
import { openHooks } from '../../app/hooks';
import { endDaemonOf, schedulerOf } from '../../app/schedule';

export interface Uninstalled {
  dryRun: boolean;
  /** Jobs that were taken out, and of which schedulers. */
  jobs: { job: JobId; from: string[] }[];
  /** A daemon ran, and was stopped. */
  daemonStopped: boolean;
  hooks: HooksGone;
  /** Other files that were installed (completion scripts). */
  files: string[];
  /** What stays, and why: changed by somebody else since, or what could not be done. */
  left: { what: string; why: string }[];
}

/** What is to be taken back; what is left out stays as it is. */
export interface UninstallParts {
  jobs: readonly JobId[];
  /** With the shim and the work skill. */
  hooks: boolean;
  completion: boolean;
}

export const ALL_PARTS: UninstallParts = { jobs: JOB_IDS, hooks: true, completion: true };

/**
 * Takes back everything that was ever installed on this machine, from the manifest: jobs, the daemon that runs, hooks
 * and their shim, completion scripts; or only the parts that are named. The user area stays. What cannot be taken back is told and stops nothing; run
 * again, it goes on with that.
 */
export async function uninstallAll(
  context: Context,
  input: { root: string; parts: UninstallParts; dryRun: boolean },
): Promise<Uninstalled> {
  const { root, parts, dryRun } = input;
  const left: Uninstalled['left'] = [];
  const attempt = async <T>(what: string, work: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      const { kind, message, hint } = toStewardError(error);
      if (kind === 'internal') throw error;
      left.push({ what, why: [message, ...(hint === undefined ? [] : [hint])].join(' ') });
      return otherwise;
    }
  };
  const jobs = await attempt('jobs', () => removeJobs(context, parts.jobs, dryRun), []);
  const daemonStopped =
    parts.jobs.includes('daemon') && (await attempt('the daemon', () => stopRunning(context, dryRun), false));
  const { assistant } = openHooks(context, root, 'claude-code');
  const none: HooksGone = {
    assistant: assistant.id,
    settings: [],
    shim: { path: '', removed: false },
    skill: { path: '', changed: [], left: [] },
    left: [],
    strangers: [],
    dryRun,
  };
  const hooks = parts.hooks ? await attempt('hooks', () => removeHooks(context, root, dryRun), none) : none;
  left.push(...hooks.left.map((what) => ({ what, why: 'written or changed by somebody else since' })));
  const isWhole = parts === ALL_PARTS;
  const files = parts.completion
    ? await attempt('completion scripts', () => removeFiles(context, { dryRun, hooks, left, isWhole }), [])
    : [];
  return { dryRun, jobs, daemonStopped, hooks, files, left };
}

async function removeJobs(
  context: Context,
  ids: readonly JobId[],
  dryRun: boolean,
): Promise<Uninstalled['jobs']> {
  if (ids.length === 0) return [];
  const scheduler = await schedulerOf(context);
  const { pollIntervalSec } = await pollInterval(context);
  const removed: Uninstalled['jobs'] = [];
  for (const id of ids) {
    const job = jobOf(id, { pollIntervalSec });
    if (dryRun) {
      const { installed, scheduler: kind } = await scheduler.status(job);
      if (installed) removed.push({ job: id, from: [kind] });
      continue;
    }
    const { removedFrom } = await scheduler.uninstall(job);
    if (removedFrom.length > 0) removed.push({ job: id, from: removedFrom });
  }
  return removed;
}

/** A configuration that does not load keeps nobody from leaving. */
async function pollInterval(context: Context): Promise<{ pollIntervalSec: number }> {
  try {
    return (await context.loadConfig()).config.sense;
  } catch (error) {
    if (toStewardError(error).kind !== 'config') throw error;
    const { defaultConfig } = await import('../../config/load');
    return defaultConfig(context.area).sense;
  }
}

async function stopRunning(context: Context, dryRun: boolean): Promise<boolean> {
  if (dryRun) return (await findDaemon(context)) !== undefined;
  return endDaemonOf(context);
}

/** Where nothing is installed, nothing is written to find that out. */
async function removeHooks(context: Context, root: string, dryRun: boolean): Promise<HooksGone> {
  const { deps, assistant } = openHooks(context, root, 'claude-code');
  const found = await uninstallHooks(deps, { assistant, dryRun: true });
  const isThere =
    found.shim.removed ||
    found.skill.changed.length > 0 ||
    found.settings.some(({ entries, removed }) => entries > 0 || removed);
  if (dryRun || !(isThere || exists(context.area.installManifest))) return { ...found, dryRun };
  return uninstallHooks(deps, { assistant, dryRun: false });
}

/** Completion scripts; of the whole also whatever else the manifest still holds. */
async function removeFiles(
  context: Context,
  input: { dryRun: boolean; hooks: HooksGone; left: Uninstalled['left']; isWhole: boolean },
): Promise<string[]> {
  const { dryRun, hooks, left, isWhole } = input;
  if (!exists(context.area.installManifest)) return [];
  const isHooks = ({ id }: InstallEntry): boolean => id.startsWith('hooks:');
  // What is left of the skill was named with the hooks, which bring it.
  const isSkill = ({ id }: InstallEntry): boolean => id.startsWith('skill:');
  const isMeant = ({ id }: InstallEntry): boolean => isWhole || id.startsWith('completion:');
  const found = readInstallManifest(context.area.installManifest, context.machineId);
  if (dryRun)
    return found
      .filter((entry) => entry.kind === 'file' && isMeant(entry) && !isHooks(entry) && !isSkill(entry))
      .map(({ path }) => path);
  return withInstallManifest(manifestOf(context), (manifest) => {
    const removed: string[] = [];
    for (const entry of manifest.entries().filter(isMeant)) {
      if (isSkill(entry) || (isHooks(entry) && hooks.settings.length === 0)) continue;
      if (entry.kind !== 'file')
        left.push({ what: entry.path, why: `an entry of ${entry.id} could not be taken back` });
      else if (!removeRecorded(entry))
        left.push({ what: entry.path, why: 'written or changed by somebody else since' });
      else {
        removed.push(entry.path);
        manifest.forget(entry.id, entry.path);
      }
    }
    // Folders that several of them shared are empty only now.
    removeMadeFolders(found.filter(({ path }) => removed.includes(path)));
    return removed;
  });
}
