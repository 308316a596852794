import { boolean } from '../../lib/cli/base-command';

import { InstallerCommand, installerFlags } from '../../lib/cli/installer-command';
import type { InstallerResult } from '../../lib/schedule/installer';

export default class SenseInstall extends InstallerCommand {
  static override summary = 'Schedule captures or the hourly insight';
  static override description =
    'Adds a job to your system\'s scheduler (launchd, systemd, cron, Task Scheduler). The job runs "steward tick" every sense.pollIntervalSec seconds (default: 120), which captures, delivers and sweeps; --insight also switches the hourly insight on. If the daemon\'s job is installed, the daemon does all this. The job survives upgrades. Installing again changes nothing.';
  static override flags = {
    ...installerFlags,
    insight: boolean({ description: 'Schedule the hourly insight, which calls your assistant.' }),
  };
  static override examples = [
    '<%= config.bin %> sense install',
    '<%= config.bin %> sense install --insight',
    '<%= config.bin %> sense install --status',
    '<%= config.bin %> sense install --uninstall',
  ];
  static override related = ['sense status', 'sense capture', 'sense insight preview', 'daemon install'];

  async run(): Promise<InstallerResult> {
    const { flags } = await this.parse(SenseInstall);
    return this.install(flags.insight ? 'insight' : 'capture', flags);
  }
}
