import { BaseCommand, boolean, word } from '../lib/cli/base-command';
import { fromAfar } from '../lib/platform/desktop/browser';
import { openLink, PAGE_PATHS } from '../lib/daemon/remote';

type Page = keyof typeof PAGE_PATHS;

export default class Open extends BaseCommand {
  static override summary = 'Open the dashboard in the browser';
  static override description =
    'Needs the daemon (`steward up`). The address contains a one-time sign-in code that expires after a minute. Only a signed-in browser can change issues. With daemon.requireToken, reading also requires signing in.';
  static override args = {
    page: word({ description: 'Page to open.', options: Object.keys(PAGE_PATHS), default: 'today' }),
  };
  static override flags = {
    print: boolean({ description: 'Print the address instead of opening it.' }),
  };
  static override examples = ['open', 'open work', 'open --print'];
  static override related = ['up', 'daemon status', 'sense today'];

  async run(): Promise<{ url: string; expiresInSec: number; opened: boolean }> {
    const { args, flags } = await this.parse(Open);
    const link = await openLink(this.context, args.page as Page);
    const opened = await this.openUrl(link.url, flags.print);
    if (!opened) for (const line of fromAfar(link.url)) this.say(line);
    return { ...link, opened };
  }
}
