import { BaseCommand, boolean } from '../../lib/cli/base-command';
import { setUpAnswers } from '../../lib/setup/answers';
import { confirm, isInteractive } from '../../lib/platform/terminal/ask';

const UNKNOWN =
  ' (nothing is held until it is measured: run "steward sense init", and open a desktop, a terminal or tmux)';

export default class AnswersSetupCommand extends BaseCommand {
  static override summary = 'Answer questions and permissions from elsewhere';
  static override description =
    'While you are away, steward holds the questions, plans and permissions of Claude Code, and the permissions of Codex if its hooks are installed; you answer them from the page, Telegram, a banner or a push. As soon as you are back, such as with a key typed at any terminal of this machine, after notifications.answers.holdMinutes, or if anything is unclear, the assistant asks as always. You can allow only the tools in notifications.answers.tools (none by default), and deny all. Restricted sessions are never offered. Registers more hooks, turns on notifications.answers.enabled, and tests the answers and your measured presence. To turn it off: steward config set notifications.answers.enabled false';
  static override flags = {
    yes: boolean({ description: 'Skip the confirmation; without a terminal, only explains if omitted.' }),
  };
  static override examples = ['answers setup', 'answers setup --yes'];
  static override related = ['answer ROW', 'inbox', 'config set KEY VALUE'];

  async run(): Promise<object> {
    const { flags } = await this.parse(AnswersSetupCommand);
    const isSettled =
      flags.yes === true || (await this.context.loadConfig()).config.settings.notifications.answers.enabled;
    if (!isSettled) this.say(AnswersSetupCommand.description);
    if (!isSettled && !(isInteractive() && (await confirm('Turn it on?', 'no'))))
      return this.show(
        { enabled: false },
        () => 'Nothing was changed. To turn it on: steward answers setup --yes',
      );
    const result = await setUpAnswers(this.context);
    return this.show(result, () =>
      [
        'Answers from elsewhere are on.',
        ...result.hooks.map(({ assistant, settings, events, then }) =>
          [`${assistant}: ${events.join(', ')} in ${settings}`, then ?? []].flat().join('; '),
        ),
        `Test answer: ${result.test}`,
        `Your presence: ${result.presence}${result.presence === 'unknown' ? UNKNOWN : ''}`,
        ...(result.missing === null
          ? []
          : [`Nothing is held yet: ${result.missing.found}. To install the hooks: ${result.missing.fix}`]),
      ].join('\n'),
    );
  }
}
