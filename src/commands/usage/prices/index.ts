import { BaseCommand, word } from '../../../lib/cli/base-command';
import { openUsage } from '../../../lib/app/usage';
import { StewardError } from '../../../lib/errors';
import { pricesText } from '../../../lib/usage/price-list';
import { listedPrices } from '../../../lib/usage/reads';

export default class UsagePrices extends BaseCommand {
  static override summary = 'List the prices of models, those you used first';
  static override args = { model: word({ description: 'Part of the names to list (default: all models).' }) };
  static override examples = ['usage prices', 'usage prices opus', 'usage prices --json'];
  static override related = ['usage prices update', 'config set usage.prices VALUE', 'usage --by model'];

  async run(): Promise<object> {
    const { args } = await this.parse(UsagePrices);
    const { deps } = await openUsage(this.context);
    const { asOf, source, problems } = deps.table;
    const rows = listedPrices(deps, args.model);
    if (rows.length === 0)
      throw new StewardError('not_found', `No price of a model like ${JSON.stringify(args.model)}.`, {
        hint: 'List all with `steward usage prices`, or set one in usage.prices.',
      });
    for (const problem of problems) this.say(problem);
    return this.show({ rows, source, asOf, problems }, () => pricesText(rows, deps.table, this.terminal));
  }
}
