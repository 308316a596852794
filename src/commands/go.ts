import { BaseCommand, word } from '../lib/cli/base-command';
import { goNow } from '../lib/app/sessions';
import type { Went } from '../lib/sessions/go';

export default class Go extends BaseCommand {
  static override summary = 'Jump to the session that waits for you longest.';
  static override description =
    'Its tmux pane, or its kitty window where kitty can be asked, comes to the front. A number is the place of a session in `sessions`. The terminal is the one that the session began on; one that somebody else has now is left alone.';
  static override args = {
    session: word({ description: 'Its number in `sessions`, or its slug.' }),
  };
  static override examples = [
    '<%= config.bin %> go',
    {
      description: 'On a key of tmux, in tmux.conf',
      command: 'bind-key g run-shell "<%= config.bin %> go"',
    },
  ];
  static override related = ['sessions', 'statusline'];

  async run(): Promise<Went> {
    const { args } = await this.parse(Go);
    const went = await goNow(this.context, args.session);
    this.print(() => `${went.slug} · ${went.via} ${went.target}`);
    return went;
  }
}
