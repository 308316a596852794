import { boolean, option } from '@oclif/core/flags';

import {
  SCHEDULER_KINDS,
  type InstallResult,
  type JobStatus,
  type SchedulerKind,
  type UninstallResult,
} from '../schedule';
import type { JobId } from '../schedule/job';
import { installText, jobText, uninstallText, type TextOptions } from '../schedule/view';
import type { Context } from './context';
import { installJob, jobStatus, uninstallJob } from './schedule';

/** The flags of every installer (service.md: The installer has three modes). */
export const installerFlags = {
  status: boolean({
    description:
      'Show whether it is installed and loaded, its last and next run, and how the last one ended.',
    exclusive: ['uninstall', 'scheduler'],
  }),
  uninstall: boolean({ description: 'Unload it and remove it.', exclusive: ['status', 'scheduler'] }),
  scheduler: option({
    options: SCHEDULER_KINDS,
    description: 'The scheduler to install it in; chosen by itself when left out.',
    helpValue: 'KIND',
  })(),
};

export type InstallerResult = InstallResult | JobStatus | UninstallResult;

/** Runs an installer in the mode that the flags ask for; `text` is for a person. */
export async function runInstaller(
  context: Context,
  id: JobId,
  flags: { status: boolean; uninstall: boolean; scheduler?: SchedulerKind | undefined },
): Promise<{ result: InstallerResult; warnings: string[]; text: (options: TextOptions) => string }> {
  if (flags.status) {
    const { job, result, notes } = await jobStatus(context, id);
    return { result, warnings: [], text: (options) => jobText(result, job, notes, options) };
  }
  if (flags.uninstall) {
    const { result, notes } = await uninstallJob(context, id);
    return { result, warnings: [], text: (options) => uninstallText(result, notes, options) };
  }
  const { result, notes } = await installJob(context, id, flags.scheduler);
  return { result, warnings: result.warnings, text: (options) => installText(result, notes, options) };
}
