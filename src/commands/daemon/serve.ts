import { BaseCommand, boolean, port, text } from '../../lib/cli/base-command';
import { serveDaemon } from '../../lib/cli/serve';

export default class DaemonServe extends BaseCommand {
  static override summary = 'Run the daemon in the foreground: pages, HTTP API and periodic jobs';
  static override description =
    'Runs until Ctrl-C, SIGTERM or "steward daemon stop". Listens on loopback; any other --host requires daemon.requireToken. After an upgrade, restarts when idle.';
  static override flags = {
    port,
    host: text({ description: 'Address to listen on (default: daemon.host).', helpValue: 'HOST' }),
    sweep: boolean({ description: 'Also run the work sweep every hour.', default: false }),
  };
  static override examples = ['daemon serve', 'daemon serve --port 0 --json'];
  static override related = ['up', 'daemon status', 'daemon stop', 'daemon restart', 'open'];

  async run(): Promise<undefined> {
    const { flags } = await this.parse(DaemonServe);
    process.exitCode = await serveDaemon(this.context, flags, {
      isJson: this.json,
      say: this.say,
      onListening: ({ url, port, pid }) => {
        this.printLine({ url, port, pid });
        this.print(() => `Listening on ${url}`);
      },
    });
  }
}
