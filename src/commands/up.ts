import { boolean } from '@oclif/core/flags';

import { BaseCommand } from '../lib/cli/base-command';
import { consentText, isSetUp, up, type UpResult } from '../lib/cli/up';
import { StewardError } from '../lib/errors';
import { canAsk, confirm } from '../lib/platform/ask';
import { recordText } from '../lib/sense/view';

export default class Up extends BaseCommand {
  static override summary = "Set up with defaults, watch this repository, capture, and show today's record.";
  static override description =
    'Asks once what is captured and where it stays; --yes answers it, and is needed where there is no terminal. Run again it keeps what is set.';
  static override flags = {
    yes: boolean({ char: 'y', description: 'Answer the question with yes.' }),
  };
  static override examples = ['<%= config.bin %> up', '<%= config.bin %> up --yes --json'];
  static override related = ['sense today', 'sense status', 'config show'];

  async run(): Promise<UpResult> {
    const { flags } = await this.parse(Up);
    if (!flags.yes && !isSetUp(this.context)) await this.ask();
    const result = await up(this.context, process.cwd());
    for (const problem of [...result.warnings, ...result.capture.problems]) this.say(problem);
    if (result.created) this.say(`Set up in ${result.userArea}`);
    this.say(
      result.watching === null ? 'No repository in this folder to watch.' : `Watching ${result.watching}`,
    );
    this.print(() => recordText(result.today.record, { ...this.terminal, notSeen: result.today.notSeen }));
    return result;
  }

  private async ask(): Promise<void> {
    const text = consentText(this.context.area.root);
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
