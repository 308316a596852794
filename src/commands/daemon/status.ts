import { BaseCommand } from '../../lib/cli/base-command';
import { daemonReport } from '../../lib/daemon/remote';
import { localTimes } from '../../lib/platform/time/day-words';
import { daemonStatusText, type DaemonReport } from '../../lib/daemon/status';
import { EXIT_CODES } from '../../lib/errors';

export default class DaemonStatusCommand extends BaseCommand {
  static override summary = 'Show the state of the daemon, its parts and its jobs';
  static override description = 'Exits 0 if the daemon is running, otherwise 8.';
  static override examples = ['daemon status', 'daemon status --json'];
  static override related = ['daemon serve', 'daemon logs', 'open', 'sense status'];

  async run(): Promise<DaemonReport> {
    const report = await daemonReport(this.context);
    if (!report.running) process.exitCode = EXIT_CODES.unavailable;
    const localTime = localTimes(this.context.clock);
    return this.show(report, () => daemonStatusText(report, { ...this.terminal, localTime }));
  }
}
