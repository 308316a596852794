import { setFolder, type SyncChange } from '../../lib/app/sync-setup';
import { BaseCommand, boolean, word } from '../../lib/cli/base-command';
import { plural } from '../../lib/platform/terminal/format';

export default class SyncSet extends BaseCommand {
  static override summary = "Publish this machine's days to a folder that your sync tool carries";
  static override description =
    'Creates the folder if only its last part is missing, and writes below machines/ in it: records, times, sessions and token use. Commit subjects, paths and session titles stay here without --details; restricted sessions and repositories always do. To see it all first, run `sync plan`.';
  static override args = {
    folder: word({
      required: true,
      description: 'Folder that Syncthing, git, rclone, Dropbox or a network drive carries.',
    }),
  };
  static override flags = {
    details: boolean({ description: 'Also publish commit subjects, paths and session titles.' }),
  };
  static override examples = [
    '<%= config.bin %> sync set ~/Sync/steward',
    '<%= config.bin %> sync set ~/Sync/steward --details',
  ];
  static override related = ['sync plan', 'sync status', 'sync leave'];

  async run(): Promise<SyncChange> {
    const { args, flags } = await this.parse(SyncSet);
    const result = await setFolder(this.context, args.folder, flags.details ? true : undefined);
    this.print(
      () =>
        `Published ${plural(result.files, 'file')} to ${result.folder ?? ''} (${plural(result.bytes, 'byte')})${result.details ? ', with details' : ''}.`,
    );
    if (result.before !== null) this.say(`What was published to ${result.before} is still there.`);
    return result;
  }
}
