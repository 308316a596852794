import { BaseCommand } from '../../../lib/cli/base-command';
import { openUsage } from '../../../lib/app/usage';
import { plural } from '../../../lib/platform/terminal/format';

export default class UsagePrices extends BaseCommand {
  static override summary = 'Show the source and date of the model prices';
  static override examples = ['usage prices', 'usage prices --json'];
  static override related = ['usage prices update', 'config set usage.prices VALUE', 'usage --by model'];

  async run(): Promise<object> {
    const { asOf, source, models, problems } = (await openUsage(this.context)).deps.table;
    const count = Object.keys(models).length;
    for (const problem of problems) this.say(problem);
    const text = `Prices of ${plural(count, 'model')} as of ${asOf}, from ${source}. Yours in usage.prices come first.`;
    return this.show({ source, asOf, models: count, problems }, () => text);
  }
}
