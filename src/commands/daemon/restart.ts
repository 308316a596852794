import { BaseCommand } from '../../lib/cli/base-command';
import { restartDaemon, type Restarted } from '../../lib/app/daemon-restart';

export default class DaemonRestart extends BaseCommand {
  static override summary = 'Start the daemon anew, and wait until it listens.';
  static override description =
    'It goes on where it ran, in its terminal or as its job, with the configuration and the steward that are there now. One that does not run is started as its job does; without a job it exits 8.';
  static override examples = ['<%= config.bin %> daemon restart', '<%= config.bin %> daemon restart --json'];
  static override related = ['daemon status', 'daemon stop', 'daemon install', 'up'];

  async run(): Promise<Restarted> {
    await this.parse(DaemonRestart);
    const result = await restartDaemon(this.context);
    this.print(() => `The daemon runs ${result.before === null ? '' : 'anew '}at ${result.url}`);
    return result;
  }
}
