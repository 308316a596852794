import { InstallerCommand, installerFlags } from '../../lib/cli/installer-command';
import type { InstallerResult } from '../../lib/schedule/installer';

export default class DaemonInstall extends InstallerCommand {
  static override summary = 'Have the daemon start at each login, and again after a failure.';
  static override description =
    'The job goes into the scheduler of your system (launchd, systemd, cron, Task Scheduler) and finds steward again after an upgrade. It is started at once. Installing twice changes nothing. --status and --uninstall are its other modes; the latter stops it.';
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
