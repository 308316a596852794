import type { Context } from '../app/context';
import type { Terminal } from '../platform/terminal/stdio';
import { overview, overviewText } from '../setup/status';
import { offerSync } from '../setup/sync/places';

export { homeText } from '../setup/home';

/** Returns the status; undefined if the configuration is damaged, which the full command reports. */
export async function status(context: Context, terminal: Terminal): Promise<string | undefined> {
  const result = await overview(context);
  const isDamaged = result.parts.some(({ id }) => id === 'configuration');
  return isDamaged ? undefined : overviewText(result, terminal, await offerSync(context));
}
