import { BaseCommand } from '../../lib/cli/base-command';
import { installerFlags, runInstaller, type InstallerResult } from '../../lib/app/installer';
import { withoutScheduler } from '../../lib/work/setup';
import { localTimes } from '../../lib/platform/time/local-times';

export default class WorkInstall extends BaseCommand {
  static override summary = 'Have the sweep run every hour by itself.';
  static override description =
    'The job goes into the scheduler of your system (launchd, systemd, cron, Task Scheduler) and finds steward again after an upgrade. Installing twice changes nothing. --status and --uninstall are its other modes.';
  static override flags = installerFlags;
  static override examples = [
    '<%= config.bin %> work install',
    '<%= config.bin %> work install --status',
    '<%= config.bin %> work install --uninstall',
  ];
  static override related = ['work sweep', 'work setup', 'daemon install'];

  async run(): Promise<InstallerResult> {
    const { flags } = await this.parse(WorkInstall);
    const { result, warnings, text } = await runInstaller(this.context, 'work', flags).catch(
      (error: unknown) => Promise.reject(withoutScheduler(error)),
    );
    for (const warning of warnings) this.say(warning);
    const localTime = localTimes(this.context.clock);
    return this.show(result, () => text({ columns: this.terminal.columns, localTime }));
  }
}
