import { InstallerCommand, installerFlags } from '../../lib/cli/installer-command';
import type { InstallerResult } from '../../lib/schedule/installer';

export default class WorkInstall extends InstallerCommand {
  static override summary = 'Schedule the sweep to run every hour';
  static override description =
    'Adds a job to your system\'s scheduler (launchd, systemd, cron, Task Scheduler). The job runs "steward tick", which also captures; to turn the sweep off, set WORK.CAPTURE_SWEEP to false. The job survives upgrades. Installing again changes nothing.';
  static override flags = installerFlags;
  static override examples = [
    '<%= config.bin %> work install',
    '<%= config.bin %> work install --status',
    '<%= config.bin %> work install --uninstall',
  ];
  static override related = ['work sweep', 'work setup', 'daemon install'];

  async run(): Promise<InstallerResult> {
    const { flags } = await this.parse(WorkInstall);
    return this.install('sweep', flags);
  }
}
