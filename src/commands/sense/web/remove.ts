import { BaseCommand } from '../../../lib/cli/base-command';
import { REMOVE_FROM_BROWSER } from '../../../lib/sense/view-web';
import { removeExtension } from '../../../lib/setup/web';

export default class SenseWebRemove extends BaseCommand {
  static override summary = 'Remove the browser extension and its pairing';
  static override description =
    'From now on, nothing that the extension sends is accepted. Remove it from the browser too. Stored events remain; delete those of a site with "sense purge --app site:NAME".';
  static override examples = ['sense web remove', 'sense web remove --json'];
  static override related = ['sense web status', 'sense purge'];

  run(): Promise<{ removed: string[] }> {
    const result = removeExtension(this.context);
    const text = `Removed: ${result.removed.join(', ') || 'nothing'}. ${REMOVE_FROM_BROWSER}`;
    return Promise.resolve(this.show(result, () => text));
  }
}
