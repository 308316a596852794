import { BaseCommand } from '../../lib/cli/base-command';
import { stopDaemon } from '../../lib/cli/daemon-stop';

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
    return result;
  }
}
