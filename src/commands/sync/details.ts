import { publishedText, setDetails, type SyncChange } from '../../lib/setup/sync/change';
import { BaseCommand, word } from '../../lib/cli/base-command';
import { plural } from '../../lib/platform/terminal/format';

export default class SyncDetails extends BaseCommand {
  static override summary = 'Start or stop publishing commit subjects, paths and session titles';
  static override description =
    "Rewrites this machine's published files. Your sync tool may retain older versions.";
  static override args = {
    state: word({
      required: true,
      options: ['on', 'off'],
      description: 'Whether to publish details (on or off).',
    }),
  };
  static override examples = ['<%= config.bin %> sync details on', '<%= config.bin %> sync details off'];
  static override related = ['sync plan', 'sync status'];

  async run(): Promise<SyncChange> {
    const { args } = await this.parse(SyncDetails);
    const result = await setDetails(this.context, args.state === 'on');
    const published = publishedText(result, `${plural(result.files, 'file')} rewritten.`);
    return this.show(result, () => `Details are ${args.state}. ${published}`);
  }
}
