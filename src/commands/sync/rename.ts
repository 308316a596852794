import { publishedText, rename, type SyncChange } from '../../lib/setup/sync/change';
import { BaseCommand, word } from '../../lib/cli/base-command';

export default class SyncRename extends BaseCommand {
  static override summary = 'Name this machine';
  static override description = 'Other machines show this name. The default is the host name.';
  static override args = { name: word({ required: true, description: 'New name, such as "laptop".' }) };
  static override examples = ['sync rename laptop', 'sync rename "Desk at home"'];
  static override related = ['sync status'];

  async run(): Promise<SyncChange & { name: string }> {
    const { args } = await this.parse(SyncRename);
    const result = await rename(this.context, args.name);
    return this.show(result, () =>
      `This machine is now named ${result.name}. ${publishedText(result, '')}`.trimEnd(),
    );
  }
}
