import { BaseCommand, boolean } from '../../../lib/cli/base-command';
import { openUsage } from '../../../lib/app/usage';
import { processHost } from '../../../lib/platform/files/paths';
import { confirm, isInteractive } from '../../../lib/platform/terminal/ask';
import { dayOf } from '../../../lib/platform/time/time';
import { changesText, fetchPrices, priceChanges } from '../../../lib/usage/price-update';
import { tableOf, storeTable } from '../../../lib/usage/prices';

export default class UsagePricesUpdate extends BaseCommand {
  static override summary = 'Fetch current model prices, once';
  static override description =
    'Sends one request to usage.priceTable, shows what changes, and asks before it uses the prices.';
  static override flags = {
    shipped: boolean({ description: 'Go back to the prices that steward ships; sends nothing.' }),
    yes: boolean({ char: 'y', description: 'Use the prices without asking.' }),
  };
  static override examples = ['usage prices update', 'usage prices update --shipped --yes'];
  static override related = ['usage prices', 'config set usage.prices VALUE'];

  async run(): Promise<object> {
    const { flags } = await this.parse(UsagePricesUpdate);
    const { state, table, clock, zone } = (await openUsage(this.context)).deps;
    const { priceTable } = (await this.context.loadConfig()).config.user.usage;
    const fetched = flags.shipped
      ? undefined
      : {
          asOf: dayOf(clock.now(), zone),
          source: new URL(priceTable).host,
          models: await fetchPrices(processHost().env, priceTable),
        };
    const changes = priceChanges(table.models, tableOf(fetched).models);
    this.print(() => changesText(changes));
    const used = flags.yes || (isInteractive() && (await confirm('Use these prices?', 'no')));
    if (used) storeTable(state, fetched);
    this.say(
      used
        ? `Prices of ${tableOf(fetched).asOf} apply.`
        : 'Nothing was changed. Add --yes to use these prices.',
    );
    return { changes, used };
  }
}
