import { BaseCommand, word } from '../lib/cli/base-command';
import { goNow } from '../lib/app/sessions';
import { isInteractive, openPrompt } from '../lib/platform/terminal/ask';
import type { Went } from '../lib/sessions/go';

export default class Go extends BaseCommand {
  static override summary = 'Jump to a session, by default to the one that waits longest';
  static override description =
    'Brings its tmux pane or kitty window to the front. SESSION is any part of its repository, branch, name or slug, or its number in "steward sessions". If several match, you choose one.';
  static override args = {
    session: word({ description: 'Part of its repository, branch, name or slug, or its number.' }),
  };
  static override examples = [
    '<%= config.bin %> go',
    '<%= config.bin %> go shop',
    {
      description: 'As a tmux key, in tmux.conf',
      command: 'bind-key g run-shell "<%= config.bin %> go"',
    },
  ];
  static override related = ['sessions', 'statusline'];

  async run(): Promise<Went> {
    const { args } = await this.parse(Go);
    const went = await goNow(this.context, args.session, (names) => this.choose(names));
    this.print(() => `${went.name} · ${went.via} ${went.target}`);
    return went;
  }

  /** Asks for one of several sessions by number; undefined without a terminal. */
  private async choose(names: readonly string[]): Promise<number | undefined> {
    if (this.json || !isInteractive()) return undefined;
    this.say(names.map((name, index) => `${index + 1}  ${name}`).join('\n'));
    const prompt = openPrompt();
    try {
      for (;;) {
        const answer = Number(await prompt.line(`Session (1 to ${names.length}): `));
        if (Number.isInteger(answer) && answer >= 1 && answer <= names.length) return answer - 1;
      }
    } finally {
      prompt.close();
    }
  }
}
