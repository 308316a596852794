import { BaseCommand, boolean, integer } from '../lib/cli/base-command';
import { serveDaemon } from '../lib/app/serve';
import { findDaemon } from '../lib/app/daemon-client';
import { consentText, isSetUp, up, type UpResult } from '../lib/app/up';
import { StewardError } from '../lib/errors';
import { canAsk, confirm } from '../lib/platform/terminal/ask';
import { recordText } from '../lib/sense/view';

/** The voice is on by the specification, so the one question says it and names the way out (decisions.md 2). */
const VOICE_WORDS = `Notifications are spoken aloud where this machine has a voice;
"steward notify mute" silences them.`;

export default class Up extends BaseCommand {
  static override summary = 'Set up with defaults, watch this repository, capture, and run the daemon.';
  static override description =
    'Asks once what is captured and where it stays; --yes answers it, and is needed where there is no terminal. Run again it keeps what is set. The daemon then runs in the foreground, captures at the poll interval, sweeps hourly once work is set up, and serves the dashboard until Ctrl-C; where one runs already, its address is shown.';
  static override flags = {
    yes: boolean({ char: 'y', description: 'Answer the question with yes.' }),
    once: boolean({ description: 'Set up, capture, show the day, and end.' }),
    port: integer({ description: "The daemon's port (daemon.port).", min: 0, max: 65_535, helpValue: 'N' }),
  };
  static override examples = ['<%= config.bin %> up', '<%= config.bin %> up --yes --once --json'];
  static override related = ['sense today', 'daemon status', 'open', 'config show'];

  async run(): Promise<UpResult | undefined> {
    const { flags } = await this.parse(Up);
    if (!flags.yes && !isSetUp(this.context)) await this.ask();
    const result = await up(this.context, process.cwd());
    this.tell(result);
    if (flags.once) return result;
    const running = await findDaemon(this.context);
    if (running !== undefined) {
      this.say(`The daemon runs already: ${running.instance.url}/`);
      return { ...result, daemon: running.instance.url };
    }
    process.exitCode = await serveDaemon(
      this.context,
      { port: flags.port, sweep: true },
      {
        isJson: this.json,
        say: (text) => {
          if (!result.warnings.includes(text)) this.say(text);
        },
        onListening: ({ url }) => {
          this.printLine({ ...result, daemon: url });
          this.say(`The dashboard: ${url}/   (Ctrl-C ends the daemon)`);
        },
      },
    );
    return undefined;
  }

  private tell(result: UpResult): void {
    for (const problem of [...result.warnings, ...result.capture.problems]) this.say(problem);
    if (result.created) this.say(`Set up in ${result.userArea}`);
    this.say(
      result.watching === null ? 'No repository in this folder to watch.' : `Watching ${result.watching}`,
    );
    this.print(() => recordText(result.today.record, { ...this.terminal, notSeen: result.today.notSeen }));
  }

  private async ask(): Promise<void> {
    const text = `${consentText(this.context.area.root)}\n${VOICE_WORDS}`;
    if (!canAsk()) {
      throw new StewardError('usage', `${text}\nThere is no terminal to ask on.`, {
        hint: 'Say yes with: steward up --yes',
      });
    }
    this.say(text);
    if (await confirm('Start?')) return;
    throw new StewardError('canceled', 'Nothing was set up.', {
      hint: 'Run steward up again when you want to.',
    });
  }
}
