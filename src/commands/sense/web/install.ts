import { BaseCommand } from '../../../lib/cli/base-command';
import { installExtension } from '../../../lib/setup/web';
import { installText, type InstalledExtension } from '../../../lib/sense/view-web';

export default class SenseWebInstall extends BaseCommand {
  static override summary = 'Write the browser extension that records time by site';
  static override description =
    'Writes a folder to load in your browser and shows the pairing code. The extension sends only the names of sites that you tick on its page; the browser hides all other addresses from it.';
  static override examples = ['sense web install', 'sense web install --json'];
  static override related = ['sense web status', 'sense web pair', 'sense web remove'];

  async run(): Promise<InstalledExtension> {
    const result = await installExtension(this.context);
    return this.show(result, () => installText(result));
  }
}
