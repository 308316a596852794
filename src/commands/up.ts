import { findDaemon } from '../lib/daemon/client';
import { serveDaemon } from '../lib/cli/serve';
import { BaseCommand, boolean, port } from '../lib/cli/base-command';
import { confirm, isInteractive } from '../lib/platform/terminal/ask';
import { backfillText } from '../lib/sense/backfill';
import { recordText } from '../lib/sense/view';
import { recentText } from '../lib/sense/view-status';
import { authorsHint, nothingText, placeText } from '../lib/setup/first-look';
import { offerSync } from '../lib/setup/sync/places';
import { askToStart, hasNothing, up, upDocument } from '../lib/setup/up';

export default class Up extends BaseCommand {
  static override summary = 'Set up with defaults, watch this repository, and run the daemon';
  static override description =
    'Asks once for consent, then runs the daemon in the foreground until Ctrl-C. The daemon captures, serves the dashboard and, if work tracking is set up, runs the sweep every hour. If a daemon is already running, shows its address.';
  static override flags = {
    yes: boolean({
      char: 'y',
      description: 'Skip the consent question; required without a terminal.',
    }),
    once: boolean({ description: "Set up, capture once, show today's record, and exit." }),
    port,
  };
  static override examples = ['up', 'up --yes --once --json'];
  static override related = ['sense today', 'daemon status', 'open', 'config show'];

  async run(): Promise<ReturnType<typeof upDocument> | undefined> {
    const { flags } = await this.parse(Up);
    if (!flags.yes && !this.context.area.sense.isSetUp) await askToStart(this.context, this.say);
    const ask = flags.yes || !isInteractive() ? undefined : (question: string) => confirm(question, 'no');
    const result = await up(this.context, process.cwd(), ask);
    const { warnings, capture, created, userArea, watching, authors } = result;
    for (const problem of [...warnings, ...capture.problems]) this.say(problem);
    if (created)
      for (const text of [`Set up in ${userArea}`, placeText(this.context) ?? []].flat()) this.say(text);
    this.say(
      watching === null
        ? 'This folder is not a git repository, so it is not watched.'
        : `Watching ${watching}`,
    );
    const isEmpty = hasNothing(result.days);
    const offer = await offerSync(this.context);
    if (offer !== undefined) this.say(offer);
    if (result.backfill !== null) {
      for (const problem of result.backfill.problems) this.say(problem);
      const hint = authors === null || isEmpty ? undefined : authorsHint(authors);
      if (!isEmpty) this.say(backfillText(result.backfill));
      if (hint !== undefined) this.say(hint);
    }
    this.print(() => {
      if (isEmpty) return nothingText(watching, authors);
      const today = recordText(result.today.record, { ...this.terminal, notSeen: result.today.notSeen });
      return `${today}\n\n${recentText(result.days, this.terminal)}`;
    });
    const document = upDocument(result);
    if (flags.once) return document;
    const running = await findDaemon(this.context);
    if (running !== undefined) {
      this.say(`The daemon is already running: ${running.instance.url}/`);
      return { ...document, daemon: running.instance.url };
    }
    process.exitCode = await serveDaemon(
      this.context,
      { port: flags.port, sweep: true },
      {
        isJson: this.json,
        say: (text) => (warnings.includes(text) ? undefined : this.say(text)),
        onListening: ({ url }) => {
          this.printLine({ ...document, daemon: url });
          this.say(`Dashboard: ${url}/   (Ctrl-C stops the daemon)`);
        },
      },
    );
    return undefined;
  }
}
