import { BaseCommand, boolean, issueNumber } from '../../lib/cli/base-command';
import { openWork } from '../../lib/app/work';
import { issuePage } from '../../lib/work/edit';

export default class WorkOpen extends BaseCommand {
  static override summary = 'Open an issue in the browser';
  static override args = { number: issueNumber() };
  static override flags = {
    print: boolean({ description: 'Print the URL instead of opening it.', default: false }),
  };
  static override examples = ['work open 12', 'work open 12 --print'];
  static override related = ['work show NUMBER', 'work board'];

  async run(): Promise<{ url: string; opened: boolean }> {
    const { args, flags } = await this.parse(WorkOpen);
    const { deps } = await openWork(this.context);
    const url = await issuePage(deps, args.number);
    return { url, opened: await this.openUrl(url, flags.print) };
  }
}
