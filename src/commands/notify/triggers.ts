import { BaseCommand } from '../../lib/cli/base-command';
import { triggersOnce } from '../../lib/app/triggers';

export default class NotifyTriggers extends BaseCommand {
  static override hidden = true;
  static override summary = 'Send the notifications queued by hooks';
  static override description =
    'Hooks start this command if the daemon is not running. Notifies you about finished turns, finished background agents and waiting sessions.';
  static override examples = ['notify triggers', 'notify triggers --json'];
  static override related = ['hooks status', 'notify history'];

  async run(): Promise<{ left: boolean }> {
    const result = await triggersOnce(this.context);
    return this.show(result, () =>
      result.left ? 'Some notifications are still queued.' : 'The queue is empty.',
    );
  }
}
