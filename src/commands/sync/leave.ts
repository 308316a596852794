import { leave } from '../../lib/app/sync-setup';
import { BaseCommand, boolean } from '../../lib/cli/base-command';
import { plural } from '../../lib/platform/terminal/format';

export default class SyncLeave extends BaseCommand {
  static override summary = 'Stop publishing from this machine';
  static override description =
    'What was published stays in the folder, so that your other machines still count it. --remove deletes it there. Your own data stays as it is. Details are off afterwards.';
  static override flags = {
    remove: boolean({ description: 'Delete what this machine has published.' }),
  };
  static override examples = ['<%= config.bin %> sync leave', '<%= config.bin %> sync leave --remove'];
  static override related = ['sync set FOLDER', 'sync forget MACHINE'];

  async run(): Promise<{ folder: string; removedFiles: number }> {
    const { flags } = await this.parse(SyncLeave);
    const result = await leave(this.context, flags.remove);
    const removed = flags.remove ? ` Removed ${plural(result.removedFiles, 'file')} there.` : '';
    return this.show(result, () => `No longer publishing to ${result.folder}.${removed}`);
  }
}
