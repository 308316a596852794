import { leave } from '../../lib/app/sync-setup';
import { BaseCommand, boolean } from '../../lib/cli/base-command';
import { plural } from '../../lib/platform/terminal/format';

export default class SyncLeave extends BaseCommand {
  static override summary = 'Stop publishing from this machine';
  static override description =
    'Published files stay in the folder, where other machines still read them; --remove deletes the files. Your own data is unchanged. Also turns off publishing of details.';
  static override flags = {
    remove: boolean({ description: 'Delete what this machine has published.' }),
  };
  static override examples = ['<%= config.bin %> sync leave', '<%= config.bin %> sync leave --remove'];
  static override related = ['sync set FOLDER', 'sync forget MACHINE'];

  async run(): Promise<{ folder: string; removedFiles: number }> {
    const { flags } = await this.parse(SyncLeave);
    const result = await leave(this.context, flags.remove);
    const removed = flags.remove ? ` Removed ${plural(result.removedFiles, 'published file')}.` : '';
    return this.show(result, () => `No longer publishing to ${result.folder}.${removed}`);
  }
}
