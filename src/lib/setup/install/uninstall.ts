import type { Context } from '../../app/context';
import { findDaemon } from '../../daemon/client';
import { endDaemonOf, schedulerOf } from '../../app/schedule';
import { uninstallAllHooks, type HooksUninstalled as HooksGone } from '../../assistant/uninstall';
import { toStewardError } from '../../errors';
import { exists } from '../../platform/files/folder';
import {
  readInstallManifest,
  removeMadeFolders,
  withInstallManifest,
  type InstallEntry,
} from '../../platform/files/install-manifest';
import { formerJobs } from '../../schedule';
import { DAEMON_JOB, FORMER_JOBS, JOB_IDS, tickJob, type JobId } from '../../schedule/job';
import { manifestOf, removeRecorded } from '../../shell/completion-install';
import { openRegistered } from '../../app/hooks';
import { CLAUDE_CODE } from '../../sessions/session-key';
import { chosenNames } from '../init/step';
import { reasonOf } from './install';

export interface Uninstalled {
  dryRun: boolean;
  /** The removed jobs, and the schedulers from which they were removed. */
  jobs: { job: JobId; from: string[] }[];
  daemonStopped: boolean;
  hooks: HooksGone;
  /** Other removed files, such as completion scripts. */
  files: string[];
  /** The parts that could not be removed, and why. */
  left: { what: string; why: string }[];
}

interface UninstallParts {
  jobs: readonly JobId[];
  /** Whether to remove the hooks, the shim and the work skill. */
  hooks: boolean;
  completion: boolean;
}

const CHANGED = 'changed since it was installed';
const ALL_PARTS: UninstallParts = { jobs: JOB_IDS, hooks: true, completion: true };

/** Returns the parts that the flags select, or all parts if no flag selects a part. */
export function partsOf(flags: {
  jobs?: string | undefined;
  hooks: boolean;
  completion: boolean;
}): UninstallParts & { isWhole: boolean } {
  const { jobs, hooks, completion } = flags;
  if (jobs === undefined && !hooks && !completion) return { ...ALL_PARTS, isWhole: true };
  const named = jobs === undefined ? [] : chosenNames('job', jobs, [...JOB_IDS, ...FORMER_JOBS]);
  const ids = named.map((name) => (name === 'daemon' ? name : 'tick'));
  return { jobs: [...new Set(ids)], hooks, completion, isWhole: false };
}

/**
 * Removes everything installed on this machine except the user area. If a part fails, continues with the
 * others.
 */
export async function uninstallAll(
  context: Context,
  parts: UninstallParts & { isWhole: boolean },
  dryRun: boolean,
): Promise<Uninstalled> {
  const left: Uninstalled['left'] = [];
  const attempt = async <T>(what: string, otherwise: T, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      left.push({ what, why: reasonOf(error).why });
      return otherwise;
    }
  };
  const jobs = await attempt('jobs', [], () => removeJobs(context, parts.jobs, dryRun));
  const daemonStopped =
    parts.jobs.includes('daemon') &&
    (await attempt('the daemon', false, async () =>
      dryRun ? (await findDaemon(context)) !== undefined : endDaemonOf(context),
    ));
  const nothing: HooksGone = {
    assistant: CLAUDE_CODE,
    settings: [],
    statusLine: null,
    shim: { path: '', removed: false },
    skill: { path: '', changed: [], left: [] },
    left: [],
    strangers: [],
    dryRun,
  };
  const none = { result: nothing, failures: [] };
  const { result: hooks, failures } = parts.hooks
    ? await attempt('hooks', none, () => removeHooks(context, dryRun))
    : none;
  left.push(...failures.map((error) => ({ what: 'hooks', why: reasonOf(error).why })));
  left.push(...hooks.left.map((what) => ({ what, why: CHANGED })));
  const { isWhole, completion } = parts;
  const hooksGone = hooks.settings.length > 0 && failures.length === 0;
  const files = completion
    ? await attempt('completion scripts', [], () =>
        removeFiles(context, { dryRun, hooksGone, left, isWhole }),
      )
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
  const sense = await senseOf(context);
  const removed: Uninstalled['jobs'] = [];
  for (const id of ids) {
    const job = id === 'daemon' ? DAEMON_JOB : tickJob(sense);
    let from: string[];
    if (dryRun) {
      const { installed, scheduler: kind } = await scheduler.status(job);
      from = installed || (id === 'tick' && formerJobs(context).length > 0) ? [kind] : [];
    } else from = (await scheduler.uninstall(job)).removedFrom;
    if (from.length > 0) removed.push({ job: id, from });
  }
  return removed;
}

/** Ignores an invalid configuration, which must not prevent an uninstall. */
async function senseOf(context: Context): Promise<{ pollIntervalSec: number }> {
  try {
    return (await context.loadConfig()).config.sense;
  } catch (error) {
    if (toStewardError(error).kind !== 'config') throw error;
    const { defaultConfig } = await import('../../config/load');
    return defaultConfig(context.area).sense;
  }
}

async function removeHooks(context: Context, dryRun: boolean): ReturnType<typeof uninstallAllHooks> {
  const { deps, assistants } = openRegistered(context);
  const { result: found, failures } = await uninstallAllHooks(deps, { assistants, dryRun: true });
  const isThere =
    found.shim.removed ||
    found.skill.changed.length > 0 ||
    found.settings.some(({ entries, removed }) => entries > 0 || removed);
  if (dryRun || !(isThere || exists(context.area.installManifest)))
    return { result: { ...found, dryRun }, failures };
  return uninstallAllHooks(deps, { assistants, dryRun: false });
}

/** Removes completion scripts. When uninstalling everything, also removes all other files in the manifest. */
async function removeFiles(
  context: Context,
  input: { dryRun: boolean; hooksGone: boolean; left: Uninstalled['left']; isWhole: boolean },
): Promise<string[]> {
  const { dryRun, hooksGone, left, isWhole } = input;
  if (!exists(context.area.installManifest)) return [];
  const isSelected = ({ id }: InstallEntry): boolean =>
    (isWhole || id.startsWith('completion:')) &&
    !id.startsWith('skill:') &&
    (!id.startsWith('hooks:') || (hooksGone && !dryRun));
  const found = readInstallManifest(context.area.installManifest, context.machineId).filter(isSelected);
  if (dryRun) return found.filter(({ kind }) => kind === 'file').map(({ path }) => path);
  return withInstallManifest(manifestOf(context), (manifest) => {
    const removed: InstallEntry[] = [];
    for (const entry of manifest.entries().filter(isSelected)) {
      const { id, path, kind } = entry;
      if (kind !== 'file') left.push({ what: path, why: `entry ${id} is still in the install manifest` });
      else if (!removeRecorded(entry)) left.push({ what: path, why: CHANGED });
      else {
        removed.push(entry);
        manifest.forget(id, path);
      }
    }
    // Remove folders last, because several files may share a folder.
    removeMadeFolders(removed);
    return removed.map(({ path }) => path);
  });
}
