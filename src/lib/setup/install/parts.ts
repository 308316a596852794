import { installerDeps, productRoot, type Context } from '../../app/context';
import { hookedAssistants, listedAssistants } from './assistants';
import { installJob, uninstallJob } from '../jobs';
import { claudeCode } from '../../assistant/claude-code';
import { installEach, type HooksInstalled } from '../../assistant/install';
import { installText, uninstallText } from '../../assistant/install-view';
import {
  askForSkill,
  chosenAssistants,
  othersText,
  unregisteredAssistants,
} from '../../assistant/registered';
import { uninstallAllHooks, type HooksUninstalled } from '../../assistant/uninstall';
import { findDaemon, isDaemonThere, stopDaemon } from '../../daemon/client';
import { endDaemon } from '../../schedule/running';
import { throwAll } from '../../errors';
import { exists } from '../../platform/files/folder';
import {
  readInstallManifest,
  removeMadeFolders,
  withInstallManifest,
  type InstallEntry,
} from '../../platform/files/install-manifest';
import { jobInstalledText, jobUninstalledText } from '../../schedule/installer';
import { type JobInstalled, type JobUninstalled, type SchedulerKind } from '../../schedule/job';
import { completionScript, type Completions, type Shell } from '../../shell/completion';
import {
  completionText,
  installCompletion,
  ownShellOrThrow,
  removeRecorded,
  type CompletionInstall,
} from '../../shell/completion-install';

export { SCHEDULER_KINDS as SCHEDULERS } from '../../schedule';

export const PART_IDS = ['hooks', 'jobs', 'daemon', 'completion'] as const;
export type PartId = (typeof PART_IDS)[number];

export interface InstallOptions {
  dryRun: boolean;
  /** Whether the part may ask about details, such as other assistants. */
  mayAsk: boolean;
  /** The assistants whose hooks to install, such as `codex,qwen`. */
  assistant?: string | undefined;
  skill?: boolean | undefined;
  statusline?: boolean | undefined;
  scheduler?: SchedulerKind | undefined;
  insight?: boolean | undefined;
  shell?: Shell | undefined;
}

export interface Installed {
  dryRun: boolean;
  hooks: HooksInstalled[];
  jobs: JobInstalled[];
  completion: CompletionInstall | null;
  warnings: string[];
  /** The parts that could not be installed. */
  failed: { what: string; why: string; kind: string }[];
}

export interface Uninstalled {
  dryRun: boolean;
  jobs: JobUninstalled[];
  daemonStopped: boolean;
  hooks: HooksUninstalled | null;
  /** Other removed files, such as completion scripts. */
  files: string[];
  /** The items that were not removed, and why. */
  left: { what: string; why: string }[];
}

interface Installing {
  context: Context;
  options: InstallOptions;
  places: readonly Completions[];
  result: Installed;
  print: (text: string) => void;
}

export interface Uninstalling {
  context: Context;
  dryRun: boolean;
  assistant: string | undefined;
  /** Whether all parts are removed, and with them every recorded file. */
  isWhole: boolean;
  result: Uninstalled;
  print: (text: string) => void;
}

interface Part {
  /** The flags of `install` that concern only this part. */
  flags: readonly (keyof InstallOptions)[];
  install: (at: Installing) => Promise<void>;
  uninstall: (at: Uninstalling) => Promise<void>;
}

/** What steward installs outside of the user area, each with one install and one uninstall. */
export const PARTS: Readonly<Record<PartId, Part>> = {
  hooks: { flags: ['assistant', 'skill', 'statusline'], install: installHooks, uninstall: removeHooks },
  jobs: {
    flags: ['scheduler', 'insight'],
    install: (at) => install(at, 'jobs'),
    async uninstall(at) {
      await remove(at, 'jobs');
      if (!at.isWhole && (await isDaemonThere(at.context)))
        at.print(
          'The daemon continues to capture. Run "steward config set sense.enabled false" to stop all captures.',
        );
    },
  },
  daemon: {
    flags: ['scheduler'],
    install: (at) => install(at, 'daemon'),
    async uninstall(at) {
      await remove(at, 'daemon');
      const { context, dryRun, result } = at;
      result.daemonStopped = dryRun
        ? (await findDaemon(context)) !== undefined
        : await endDaemon(context, { stopDaemon: () => stopDaemon(context) });
      if (result.daemonStopped) at.print(`${dryRun ? 'Would stop' : 'Stopped'} the daemon`);
    },
  },
  completion: { flags: ['shell'], install: installScript, uninstall: removeFiles },
};

async function installHooks({ context, options, result, print }: Installing): Promise<void> {
  const { dryRun, mayAsk, assistant, statusline: statusLine = false } = options;
  const list = assistant ?? (await chosenAssistants(installerDeps(context), mayAsk));
  const { deps, assistants } = listedAssistants(context, list);
  const asks = mayAsk && assistants.includes(claudeCode);
  const skill = options.skill ?? (asks && (await askForSkill(deps)));
  const { results, failures } = await installEach(deps, assistants, { dryRun, skill, statusLine });
  result.hooks = results;
  result.warnings.push(...results.flatMap(({ warnings }) => warnings));
  if (results.length > 0) print(installText(results));
  throwAll(failures);
  const others = unregisteredAssistants(deps).filter((one) => !assistants.includes(one));
  if (assistant === undefined && others.length > 0) result.warnings.push(othersText(others));
}

/** Looks first, because a removal takes a lock, which writes files. */
async function removeHooks(at: Uninstalling): Promise<void> {
  const { context, dryRun, result } = at;
  const { deps, assistants } = hookedAssistants(context, at.assistant);
  let { result: gone, failures } = await uninstallAllHooks(deps, { assistants, dryRun: true });
  const isThere = uninstallText(gone) !== undefined || exists(context.area.installManifest);
  if (isThere && !dryRun)
    ({ result: gone, failures } = await uninstallAllHooks(deps, { assistants, dryRun }));
  result.hooks = { ...gone, dryRun };
  result.left.push(...gone.left.map((what) => ({ what, why: CHANGED })));
  const text = uninstallText(result.hooks);
  if (text !== undefined) at.print(text);
  throwAll(failures);
}

async function install({ context, options, result, print }: Installing, part: 'jobs' | 'daemon') {
  const { installed, notes } = await installJob(context, part, options);
  result.jobs.push(installed);
  result.warnings.push(...installed.warnings);
  print(jobInstalledText(installed, notes, options.dryRun));
}

async function remove({ context, dryRun, result, print }: Uninstalling, part: 'jobs' | 'daemon') {
  const gone = await uninstallJob(context, part, dryRun);
  if (gone.removedFrom.length === 0) return;
  result.jobs.push(gone);
  print(jobUninstalledText(gone, dryRun));
}

async function installScript({ context, options, places, result, print }: Installing): Promise<void> {
  const { dryRun, shell = ownShellOrThrow() } = options;
  result.completion = await installCompletion(
    context,
    shell,
    completionScript(productRoot(context), shell, places),
    { dryRun },
  );
  print(completionText(result.completion, dryRun));
}

const CHANGED = 'changed since it was installed';

/** Removes completion scripts. When uninstalling everything, also removes all other files in the manifest. */
async function removeFiles({ context, dryRun, isWhole, result, print }: Uninstalling): Promise<void> {
  if (!exists(context.area.installManifest)) return;
  const hooksGone = isWhole && !dryRun && !result.left.some(({ what }) => what === 'hooks');
  const isSelected = ({ id }: InstallEntry): boolean =>
    (isWhole || id.startsWith('completion:')) &&
    !id.startsWith('skill:') &&
    (!id.startsWith('hooks:') || hooksGone);
  const found = readInstallManifest(context.area.installManifest, context.machineId).filter(isSelected);
  result.files = dryRun
    ? found.filter(({ kind }) => kind === 'file').map(({ path }) => path)
    : await removeEntries(context, isSelected, result.left);
  for (const path of result.files) print(`${dryRun ? 'Would remove' : 'Removed'} ${path}`);
}

function removeEntries(
  context: Context,
  isSelected: (entry: InstallEntry) => boolean,
  left: Uninstalled['left'],
): Promise<string[]> {
  return withInstallManifest(context, (manifest) => {
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
