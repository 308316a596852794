import { BaseCommand, boolean } from '../lib/cli/base-command';
import { openLink } from '../lib/app/serve';
import { openInBrowser } from '../lib/platform/desktop/browser';

export default class Open extends BaseCommand {
  static override summary = 'Open the dashboard in the browser';
  static override description =
    'With daemon.requireToken, the address contains a one-time code that signs one browser in and expires after a minute.';
  static override flags = {
    print: boolean({ description: 'Print the address instead of opening it.' }),
  };
  static override examples = ['<%= config.bin %> open', '<%= config.bin %> open --print'];
  static override related = ['up', 'daemon status', 'sense today'];

  async run(): Promise<{ url: string; expiresInSec: number | null; opened: boolean }> {
    const { flags } = await this.parse(Open);
    const link = await openLink(this.context);
    if (!flags.print) await openInBrowser(link.url);
    this.print(() => (flags.print ? link.url : 'Opened in the browser.'));
    return { ...link, opened: !flags.print };
  }
}
