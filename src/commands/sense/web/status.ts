import { BaseCommand } from '../../../lib/cli/base-command';
import { webStatus } from '../../../lib/setup/web';
import { webText, type WebStatus } from '../../../lib/sense/view-web';

export default class SenseWebStatus extends BaseCommand {
  static override summary = 'Show whether a browser is paired and sends the time on sites';
  static override examples = ['sense web status', 'sense web status --json'];
  static override related = ['sense web install', 'time --by site', 'sense sources'];

  async run(): Promise<WebStatus> {
    const result = await webStatus(this.context);
    return this.show(result, () => webText(result));
  }
}
