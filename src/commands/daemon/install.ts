import { InstallerCommand, installerFlags } from '../../lib/cli/installer-command';
import type { InstallerResult } from '../../lib/schedule/installer';

export default class DaemonInstall extends InstallerCommand {
  static override summary = 'Start the daemon at login and restart it after a crash';
  static override description =
    "Adds a job to your system's scheduler (launchd, systemd, cron or Task Scheduler) and starts the daemon. Installing again changes nothing. --uninstall removes the job and stops the daemon.";
  static override flags = installerFlags;
  static override examples = [
    '<%= config.bin %> daemon install',
    '<%= config.bin %> daemon install --status',
    '<%= config.bin %> daemon install --uninstall',
  ];
  static override related = ['daemon status', 'daemon stop', 'sense install'];

  async run(): Promise<InstallerResult> {
    const { flags } = await this.parse(DaemonInstall);
    return this.install('daemon', flags);
  }
}
