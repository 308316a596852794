import { BaseCommand } from '../../lib/cli/base-command';
import { stopDaemon } from '../../lib/app/daemon-client';

export default class DaemonStop extends BaseCommand {
  static override summary = 'Stop the daemon, and wait until it has stopped.';
  static override description =
    'Requests that have arrived are answered, and a job that is at work ends first. Exits 0 also when none was running.';
  static override examples = ['<%= config.bin %> daemon stop', '<%= config.bin %> daemon stop --json'];
  static override related = ['daemon status', 'daemon restart', 'daemon serve', 'up'];

  async run(): Promise<{ stopped: boolean; pid: number | null }> {
    await this.parse(DaemonStop);
    const result = await stopDaemon(this.context);
    this.print(() => (result.stopped ? 'The daemon has stopped.' : 'The daemon does not run.'));
    if (!result.stopped) await this.tellOfJob();
    return result;
  }

  /** One that has crashed is down for a while only where a job keeps it; what keeps it under cron needs no cron for that. */
  private async tellOfJob(): Promise<void> {
    const { schedulerWith } = await import('../../lib/app/schedule');
    const kept = await schedulerWith(this.context, 'daemon');
    if (kept?.installed !== true) return;
    this.say(
      `Its job in ${kept.kind} starts it by itself, also a minute after a crash; "steward daemon install --uninstall" ends that.`,
    );
  }
}
