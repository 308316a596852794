import { schedulerOf } from '../../lib/app/schedule';
import { BaseCommand } from '../../lib/cli/base-command';
import { restartDaemon, type Restarted } from '../../lib/daemon/remote';
import { DAEMON_JOB } from '../../lib/schedule/job';

export default class DaemonRestart extends BaseCommand {
  static override summary = 'Restart the daemon and wait until it is ready';
  static override description =
    'Restarts the daemon in the same terminal or job, with the current configuration and version. If the daemon is not running, starts its job; exits 8 if there is no job.';
  static override examples = ['daemon restart', 'daemon restart --json'];
  static override related = ['daemon status', 'daemon stop', 'install', 'up'];

  async run(): Promise<Restarted> {
    // A daemon that cannot start again must not stop.
    await this.context.loadConfig();
    const result = await restartDaemon(this.context, async () =>
      (await schedulerOf(this.context)).start(DAEMON_JOB),
    );
    return this.show(
      result,
      () => `The daemon ${result.before === null ? 'started' : 'restarted'} at ${result.url}`,
    );
  }
}
