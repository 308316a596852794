import { BaseCommand, boolean } from '../lib/cli/base-command';
import { openLink } from '../lib/app/serve';
import { openInBrowser } from '../lib/platform/desktop/browser';

export default class Open extends BaseCommand {
  static override summary = "Open the daemon's pages in the browser.";
  static override description =
    'Where daemon.requireToken is set, the address holds a code that signs one browser in, once, within a minute.';
  static override flags = {
    print: boolean({ description: 'Print the address and open nothing.' }),
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
