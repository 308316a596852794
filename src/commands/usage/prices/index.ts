import { BaseCommand, word } from '../../../lib/cli/base-command';
import { StewardError } from '../../../lib/errors';
import { openUsage } from '../../../lib/app/usage';
import { priceRows, pricesText } from '../../../lib/usage/price-list';

export default class UsagePrices extends BaseCommand {
  static override summary = 'List the prices of models, those you used first';
  static override args = { model: word({ description: 'Part of the names to list (default: all models).' }) };
  static override examples = ['usage prices', 'usage prices opus', 'usage prices --json'];
  static override related = ['usage prices update', 'config set usage.prices VALUE', 'usage --by model'];

  async run(): Promise<object> {
    const { args } = await this.parse(UsagePrices);
    const { deps } = await openUsage(this.context);
    const { asOf, source, problems } = deps.table;
    const rows = priceRows(deps, await this.period('last 30 days'), args.model);
    for (const problem of problems) this.say(problem);
    if (rows.length === 0)
      throw new StewardError('not_found', `No price is known for "${args.model}".`, {
        hint: 'Set it in usage.prices. For all models: steward usage prices',
      });
    return this.show({ rows, source, asOf, problems }, () => pricesText(rows, deps, this.terminal));
  }
}
