import { boolean } from '../../lib/cli/base-command';

import { InstallerCommand, installerFlags } from '../../lib/cli/installer-command';
import type { InstallerResult } from '../../lib/schedule/installer';

export default class SenseInstall extends InstallerCommand {
  static override summary = 'Have the capture run by itself, or the hourly content-type read.';
  static override description =
    'The job goes into the scheduler of your system (launchd, systemd, cron, Task Scheduler): the capture every sense.pollIntervalSec (120 s), with --insight the content-type read every hour. It finds steward again after an upgrade. Installing twice changes nothing. --status and --uninstall are its other modes.';
  static override flags = {
    ...installerFlags,
    insight: boolean({ description: 'The hourly content-type read instead, which asks your assistant.' }),
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
    return this.install(flags.insight ? 'insight' : 'sense', flags);
  }
}
