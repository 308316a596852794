import { plan, publishedText, setUp, type SyncChange } from '../../lib/setup/sync/change';
import { BaseCommand, boolean, dryRun, text, word } from '../../lib/cli/base-command';
import { confirm, isInteractive } from '../../lib/platform/terminal/ask';
import { plural } from '../../lib/platform/terminal/format';
import { formerTexts, remainsText } from '../../lib/sync/checks';
import { planText, type SyncPlan } from '../../lib/sync/view';

export default class SyncSetup extends BaseCommand {
  static override summary = "Publish this machine's days to a synced folder";
  static override description =
    "Publishes records, times, sessions and token usage to the folder's machines/ subfolder. Restricted work has no name in these files. Your sync tool may keep older versions.";
  static override args = {
    folder: word({
      description: 'Folder that your machines share (default: unchanged).',
    }),
  };
  static override flags = {
    create: boolean({ description: 'Create the last folder of the path without asking.' }),
    details: boolean({
      description: 'Also publish commit subjects, paths and session titles.',
      allowNo: true,
    }),
    'dry-run': dryRun('List exactly what would be published. Writes nothing.'),
    show: text({
      description: 'Print this file, such as daily/2026-11-20.json.',
      helpValue: 'PATH',
      dependsOn: ['dry-run'],
    }),
  };
  static override examples = [
    'sync setup --dry-run',
    'sync setup ~/Sync/steward --create',
    'sync setup --no-details',
  ];
  static override related = ['sync status', 'sync connect git', 'sync leave'];

  async run(): Promise<SyncChange | SyncPlan | { path: string; text: string }> {
    const { args, flags } = await this.parse(SyncSetup);
    // Despite its declared type, the flag is undefined if it wasn't passed.
    const details = flags.details as boolean | undefined;
    if (flags['dry-run']) {
      const wanted = { folder: args.folder, details };
      const { plan: planned, file } = await plan(this.context, wanted, flags.show);
      if (file === undefined) return this.show(planned, () => planText(planned));
      this.printUnfolded(() => file.text);
      return file;
    }
    const mayCreate = async (path: string): Promise<boolean> =>
      flags.create || (isInteractive() && (await confirm(`${path} does not exist. Create it?`, 'no')));
    const result = await setUp(this.context, args.folder, details, mayCreate);
    const published = `Published ${plural(result.files, 'file')} to ${result.folder ?? ''} (${plural(result.bytes, 'byte')})${result.details ? ', with details' : ''}.`;
    this.print(() => publishedText(result, published));
    if (result.before !== null) this.say(remainsText(result.before));
    for (const line of formerTexts(result.pendingFormer)) this.say(line);
    return result;
  }
}
