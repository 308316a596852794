import { BaseCommand, boolean, integer, text } from '../../lib/cli/base-command';
import { serveDaemon } from '../../lib/app/serve';

export default class DaemonServe extends BaseCommand {
  static override summary = 'Run the daemon in the foreground: the pages, the endpoints, the periodic jobs.';
  static override description =
    'Prints one line whenever it listens, and runs until Ctrl-C, SIGTERM, or "steward daemon stop". It answers on loopback only; another --host needs daemon.requireToken. When another version of steward is installed, it starts anew as soon as it has nothing to do.';
  static override flags = {
    port: integer({
      description: 'The port; 0 is any free one (daemon.port).',
      min: 0,
      max: 65_535,
      helpValue: 'N',
    }),
    host: text({ description: 'The address to listen on (daemon.host).', helpValue: 'HOST' }),
    sweep: boolean({ description: 'Run the hourly work sweep, too, as `up` does.', default: false }),
  };
  static override examples = [
    '<%= config.bin %> daemon serve',
    '<%= config.bin %> daemon serve --port 0 --json',
  ];
  static override related = ['up', 'daemon status', 'daemon stop', 'daemon restart', 'open'];

  async run(): Promise<undefined> {
    const { flags } = await this.parse(DaemonServe);
    process.exitCode = await serveDaemon(this.context, flags, {
      isJson: this.json,
      say: (text) => this.say(text),
      onListening: ({ url, port, pid }) => {
        this.printLine({ url, port, pid });
        this.print(() => `Listening on ${url}`);
      },
    });
  }
}
