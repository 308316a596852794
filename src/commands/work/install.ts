import { InstallerCommand, installerFlags } from '../../lib/cli/installer-command';
import type { InstallerResult } from '../../lib/schedule/installer';

export default class WorkInstall extends InstallerCommand {
  static override summary = 'Schedule the sweep to run every hour';
  static override description =
    'Installs a job in the scheduler of your system (launchd, systemd, cron, Task Scheduler) that survives upgrades of steward. Installing twice changes nothing.';
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
