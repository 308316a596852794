import { BaseCommand } from '../../lib/cli/base-command';
import { triggersOnce } from '../../lib/app/triggers';

export default class NotifyTriggers extends BaseCommand {
  static override hidden = true;
  static override summary = 'Tell of what hooks have left to be told.';
  static override description =
    'What a hook starts where no daemon runs: the end of a turn, the end of background agents, and a session that waits become notifications, and are delivered.';
  static override examples = [
    '<%= config.bin %> notify triggers',
    '<%= config.bin %> notify triggers --json',
  ];
  static override related = ['hooks status', 'notify history'];

  async run(): Promise<{ left: boolean }> {
    await this.parse(NotifyTriggers);
    const result = await triggersOnce(this.context);
    return this.show(result, () =>
      result.left ? 'Something is left in the spool.' : 'Nothing is left in the spool.',
    );
  }
}
