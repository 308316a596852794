import { BaseCommand, boolean } from '../../lib/cli/base-command';
import { openInbox } from '../../lib/app/inbox';
import type { Inbox } from '../../lib/inbox/row';
import { inboxText } from '../../lib/inbox/view';
import { EXIT_CODES } from '../../lib/platform/terminal/error-report';

export default class InboxCommand extends BaseCommand {
  static override summary = 'List everything that waits for you';
  static override description =
    'Lists sessions, issues, review requests, reminders, failed notifications and hooks that wait for you: first what blocks an agent, then by priority and age. Reads stored state only. A row disappears when what it waits for has happened.';
  static override flags = {
    why: boolean({ description: 'Show why each row has its place.' }),
    check: boolean({ description: 'Exit with code 6 if something waits.' }),
  };
  static override examples = ['inbox', 'inbox --json | jq .count'];
  static override related = ['inbox done ROW', 'inbox snooze ROW WHEN', 'go'];

  async run(): Promise<Inbox> {
    const { flags } = await this.parse(InboxCommand);
    const inbox = await openInbox(this.context);
    if (flags.check && inbox.count > 0) process.exitCode = EXIT_CODES.conflict;
    const options = { ...this.terminal, nowMs: this.context.clock.now(), why: flags.why === true };
    return this.show(inbox, () => inboxText(inbox, options));
  }
}
