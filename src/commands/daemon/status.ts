import { BaseCommand } from '../../lib/cli/base-command';
import { daemonReport } from '../../lib/app/serve';
import { EXIT_CODES } from '../../lib/platform/terminal/error-report';
import { localTimes } from '../../lib/platform/time/day-words';
import { daemonStatusText, type DaemonReport } from '../../lib/daemon/status';

export default class DaemonStatusCommand extends BaseCommand {
  static override summary = 'Show whether the daemon runs, and how its parts and jobs are doing.';
  static override description = 'Exits 0 when it runs and 8 when it does not.';
  static override examples = ['<%= config.bin %> daemon status', '<%= config.bin %> daemon status --json'];
  static override related = ['daemon serve', 'daemon logs', 'open', 'sense status'];

  async run(): Promise<DaemonReport> {
    await this.parse(DaemonStatusCommand);
    const report = await daemonReport(this.context);
    if (!report.running) process.exitCode = EXIT_CODES.unavailable;
    const localTime = localTimes(this.context.clock);
    return this.show(report, () => daemonStatusText(report, { ...this.terminal, localTime }));
  }
}
