import { BaseCommand } from '../../lib/cli/base-command';
import { stopDaemon } from '../../lib/daemon/client';

export default class DaemonStop extends BaseCommand {
  static override summary = 'Stop the daemon and wait until it has stopped';
  static override description =
    'Pending requests and running jobs finish first. Exits 0 even if no daemon was running.';
  static override examples = ['daemon stop', 'daemon stop --json'];
  static override related = ['daemon status', 'daemon restart', 'daemon serve', 'up'];

  async run(): Promise<{ stopped: boolean; pid: number | null }> {
    const result = await stopDaemon(this.context);
    this.print(() => (result.stopped ? 'The daemon has stopped.' : 'The daemon is not running.'));
    if (!result.stopped) await this.printJob();
    return result;
  }

  /** Warns if a scheduler job will restart the daemon within a minute. */
  private async printJob(): Promise<void> {
    const { schedulerWith } = await import('../../lib/app/schedule');
    const job = await schedulerWith(this.context, 'daemon');
    if (job?.installed !== true) return;
    this.say(
      `A ${job.kind} job restarts the daemon within a minute. To remove the job: steward uninstall daemon`,
    );
  }
}
