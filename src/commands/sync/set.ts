import { publishedText, setFolder, type SyncChange } from '../../lib/setup/sync/change';
import { BaseCommand, boolean, word } from '../../lib/cli/base-command';
import { plural } from '../../lib/platform/terminal/format';
import { formerTexts, remainsText } from '../../lib/sync/checks';

export default class SyncSet extends BaseCommand {
  static override summary = "Publish this machine's days to a synced folder";
  static override description =
    "Publishes records, times, sessions and token usage to the folder's machines/ subfolder. Creates the folder if its parent exists. Commit subjects, paths and session titles require --details. Restricted work has no name in these files. To preview the files, run `sync plan`.";
  static override args = {
    folder: word({
      required: true,
      description: 'Folder synced by Syncthing, git, rclone, Dropbox or a network drive.',
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
    const published = `Published ${plural(result.files, 'file')} to ${result.folder ?? ''} (${plural(result.bytes, 'byte')})${result.details ? ', with details' : ''}.`;
    this.print(() => publishedText(result, published));
    if (result.before !== null) this.say(remainsText(result.before));
    for (const text of formerTexts(result.pendingFormer)) this.say(text);
    return result;
  }
}
