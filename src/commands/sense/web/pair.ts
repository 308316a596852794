import { BaseCommand } from '../../../lib/cli/base-command';
import { newCode } from '../../../lib/setup/web';
import { codeText } from '../../../lib/sense/view-web';

export default class SenseWebPair extends BaseCommand {
  static override summary = 'Make a new pairing code for the browser extension';
  static override description = 'The code before is no longer valid, so each browser needs the new one.';
  static override examples = ['sense web pair', 'sense web pair --json'];
  static override related = ['sense web install', 'sense web status'];

  async run(): Promise<{ code: string }> {
    const result = await newCode(this.context);
    return this.show(result, () => codeText(result.code));
  }
}
