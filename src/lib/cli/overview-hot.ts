import type { Context } from '../app/context';
import { userArea } from '../config/user-area';
import { orElse } from '../errors';
import { foldFor } from '../platform/terminal/fold';
import { terminalOf, type Terminal } from '../platform/terminal/stdio';
import { homeText } from '../setup/home';
import { overview, overviewText } from '../setup/status';
import { offerSync } from '../setup/sync/places';
import { printHot } from './print-hot';

/**
 * Runs `steward status` and, on a terminal and once set up, a bare `steward` as `steward home`. The full command
 * reports errors.
 */
export async function runHot(
  rest: readonly string[],
  [word]: readonly string[],
  root: string,
): Promise<number | undefined | readonly string[]> {
  if (rest.length > 0 || (word === undefined && !isSetUpHere())) return undefined;
  const result = await printHot(root, async (context, terminal) => {
    const text = await (word === 'status' ? statusText : homeText)(context, terminal);
    return text && `${foldFor('stdout', text)}\n`;
  });
  return result ?? (word === undefined ? ['home'] : undefined);
}

function isSetUpHere(): boolean {
  return orElse(false, () => terminalOf().isTTY && userArea().sense.isSetUp);
}

async function statusText(context: Context, terminal: Terminal): Promise<string | undefined> {
  const result = await overview(context);
  const isDamaged = result.parts.some(({ id }) => id === 'configuration');
  return isDamaged ? undefined : overviewText(result, terminal, await offerSync(context));
}
