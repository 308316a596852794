import { InstallerCommand, installerFlags } from '../../lib/cli/installer-command';
import type { InstallerResult } from '../../lib/schedule/installer';

export default class WorkInstall extends InstallerCommand {
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
    return this.install('work', flags);
  }
}
