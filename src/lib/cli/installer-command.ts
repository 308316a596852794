import { boolean, option } from '@oclif/core/flags';

import { localTimes } from '../platform/time/day-words';
import type { InstallerResult, Scheduled } from '../schedule/installer';
import { SCHEDULER_KINDS, type SchedulerKind } from '../schedule/job';
import { BaseCommand } from './base-command';

export const installerFlags = {
  status: boolean({
    description: 'Show the state of the job, its last and next run, and the last result.',
    exclusive: ['uninstall', 'scheduler'],
  }),
  uninstall: boolean({ description: 'Remove the job.', exclusive: ['status', 'scheduler'] }),
  scheduler: option({
    options: SCHEDULER_KINDS,
    description: 'Scheduler to use; detected by default.',
    helpValue: 'KIND',
  })(),
};

/** Base class for commands that install, show or remove a job. */
export abstract class InstallerCommand extends BaseCommand {
  protected async install(
    what: Scheduled,
    flags: { status: boolean; uninstall: boolean; scheduler?: SchedulerKind | undefined },
  ): Promise<InstallerResult> {
    const { install } = await import('../app/schedule');
    const { result, warnings, text } = await install(this.context, what, flags);
    for (const warning of warnings) this.say(warning);
    const localTime = localTimes(this.context.clock);
    this.print(() => text({ columns: this.terminal.columns, localTime }));
    return result;
  }
}
