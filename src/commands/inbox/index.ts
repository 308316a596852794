import { BaseCommand, boolean } from '../../lib/cli/base-command';
import { openInbox } from '../../lib/app/inbox';
import { EXIT_CODES } from '../../lib/errors';
import type { Inbox } from '../../lib/inbox/row';
import { inboxText } from '../../lib/inbox/view';
import { isInteractive } from '../../lib/platform/terminal/ask';

export default class InboxCommand extends BaseCommand {
  static override summary = 'List everything that waits for you';
  static override description =
    'Lists sessions, issues, review requests, reminders, budgets, failed notifications and hooks that wait for you: first what blocks an agent, then by priority and age. Reads stored state only. A row disappears when what it waits for has happened. On a terminal, keys go there, answer and snooze.';
  static override flags = {
    why: boolean({ description: 'Show why each row has its place.' }),
    check: boolean({ description: 'Exit with code 6 if something waits.' }),
    snoozed: boolean({ description: 'List only what you snoozed, and for how long.' }),
    plain: boolean({ description: 'Print the list once, also on a terminal.' }),
  };
  static override examples = ['inbox', 'inbox --json | jq .count'];
  static override related = ['inbox done ROW', 'inbox snooze ROW WHEN', 'go'];

  async run(): Promise<Inbox | undefined> {
    const { flags } = await this.parse(InboxCommand);
    const isSnoozed = flags.snoozed === true;
    const isPlain = flags.plain || flags.check || flags.why || isSnoozed || this.json;
    if (!isPlain && this.terminal.isTTY && isInteractive()) {
      const { watchInbox } = await import('../../lib/cli/watch-inbox');
      await watchInbox(this.context, this.terminal);
      return undefined;
    }
    const inbox = await openInbox(this.context, isSnoozed ? 'snoozed' : 'listed');
    if (flags.check && inbox.count > 0) process.exitCode = EXIT_CODES.conflict;
    const options = { ...this.terminal, nowMs: this.context.clock.now(), why: flags.why === true };
    const isNone = isSnoozed && inbox.count === 0;
    return this.show(inbox, () => (isNone ? 'Nothing is snoozed.' : inboxText(inbox, options)));
  }
}
