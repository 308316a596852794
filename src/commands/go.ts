import { BaseCommand, word } from '../lib/cli/base-command';
import { openInbox } from '../lib/app/inbox';
import { openElsewhere } from '../lib/app/elsewhere';
import { openJump, openSessions } from '../lib/app/sessions';
import { runHere } from '../lib/platform/process/own-process';
import { isInteractive, openPrompt } from '../lib/platform/terminal/ask';
import { elsewhereNamed, goNow } from '../lib/sessions/go';
import type { Went } from '../lib/sessions/jump';
import { numberedSessions } from '../lib/sessions/view';
import { forShell } from '../lib/platform/process/spawn';
import { type Elsewhere, type SessionRow } from '../lib/sessions/rows';

export default class Go extends BaseCommand {
  static override summary = 'Jump to a session (default: the first one in the inbox)';
  static override description =
    "Shows the session's pane or tab in tmux, herdr, kitty, WezTerm and, on macOS, iTerm2, Terminal or Ghostty. If several sessions match, asks you to choose one.";
  static override args = {
    session: word({
      description:
        'Session, by its number in "steward sessions" or by part of its repository, branch, name or slug.',
    }),
  };
  static override examples = [
    'go',
    'go shop',
    {
      description: 'Bind a tmux key, in tmux.conf',
      command: 'bind-key g run-shell "TMUX_PANE=#{pane_id} <%= config.bin %> go >/dev/null"',
    },
  ];
  static override related = ['sessions', 'statusline'];

  async run(): Promise<Went | { name: string; command: string }> {
    const { args } = await this.parse(Go);
    const sessions = await openSessions(this.context);
    const { rows, silent } = await openElsewhere(this.context);
    const wanted = args.session ?? (await openInbox(this.context)).rows.find(({ slug }) => slug)?.slug;
    for (const host of silent) this.say(`${host} did not answer by ssh.`);
    const away = elsewhereNamed(sessions, rows, wanted);
    if (away?.elsewhere) return this.goElsewhere(away.name, away.elsewhere);
    const went = await goNow(sessions, openJump(this.context), wanted, (rows) => this.choose(rows));
    this.print(() => `${went.name} · ${went.via} ${went.target}`);
    return went;
  }

  /** Runs `steward go` on the session's machine by ssh, which attaches to tmux there; otherwise prints the command. */
  private async goElsewhere(name: string, { machine, host }: Elsewhere) {
    const there = `steward go ${forShell(name.slice(machine.length + 3))}`;
    const words = ['-t', '--', host ?? machine, there];
    const command = host === null ? `${there}  # on ${machine}` : `ssh ${words.map(forShell).join(' ')}`;
    if (host !== null && !this.json && isInteractive()) process.exitCode = await runHere('ssh', words);
    else this.print(() => command);
    return { name, command };
  }

  /** Asks the user to pick a session, and returns its index; undefined in non-interactive mode. */
  private async choose(rows: readonly SessionRow[]): Promise<number | undefined> {
    if (this.json || !isInteractive()) return undefined;
    this.say(numberedSessions(rows, { ...this.terminal, nowMs: this.context.clock.now() }).join('\n'));
    const prompt = openPrompt();
    try {
      for (;;) {
        const answer = Number(await prompt.line(`Session (1 to ${rows.length}): `));
        if (Number.isInteger(answer) && answer >= 1 && answer <= rows.length) return answer - 1;
      }
    } finally {
      prompt.close();
    }
  }
}
