import { leave } from '../../lib/setup/sync/change';
import { leaveFormer, type Left } from '../../lib/setup/sync/leave';
import { BaseCommand, boolean, word } from '../../lib/cli/base-command';
import { plural } from '../../lib/platform/terminal/format';
import { formerTexts, remainsText } from '../../lib/sync/checks';

export default class SyncLeave extends BaseCommand {
  static override summary = 'Stop publishing from this machine';
  static override description =
    'Published files stay in the folder, where other machines still read them; --remove deletes the files. Your own data is unchanged. Also turns off publishing of details. Later purges still rewrite the files that stay. To end that too, name the folder or repository.';
  static override args = {
    former: word({ description: 'A folder or repository (OWNER/REPO) that this machine used before.' }),
  };
  static override flags = {
    remove: boolean({ description: 'Delete what this machine has published.' }),
  };
  static override examples = ['sync leave', 'sync leave --remove', 'sync leave /mnt/old/steward --remove'];
  static override related = ['sync setup FOLDER', 'sync forget MACHINE'];

  async run(): Promise<Left> {
    const { args, flags } = await this.parse(SyncLeave);
    const { remove } = flags;
    const result =
      args.former === undefined
        ? await leave(this.context, remove)
        : await leaveFormer(this.context, args.former, remove);
    const { folder, removedFiles, remainsIn } = result;
    const isFormer = args.former !== undefined;
    const removed = remove ? ` Removed ${plural(removedFiles, 'published file')}.` : '';
    const formerText = remove
      ? `Deleted what this machine published to ${folder}.`
      : `Later purges no longer reach ${folder}.`;
    this.print(() => (isFormer ? formerText : `No longer publishing to ${folder}.${removed}`));
    for (const place of remainsIn) this.say(remainsText(place));
    for (const text of formerTexts(result.pendingFormer)) this.say(text);
    return result;
  }
}
