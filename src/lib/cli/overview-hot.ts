import { createContext } from '../app/context';
import { userArea } from '../config/user-area';
import { takeNotice } from '../platform/files/area-owner';
import { foldFor } from '../platform/terminal/fold';
import { exitAtOnce, terminalOf, writeErr, writeOut } from '../platform/terminal/stdio';
import { homeText } from '../setup/home';
import { overview, overviewText } from '../setup/status';
import { offerSync } from '../setup/sync/places';

/**
 * Runs `steward status` and, on a terminal and once set up, a bare `steward` as `steward home`. The full command
 * reports errors.
 */
export async function runHot(
  rest: readonly string[],
  [word]: readonly string[],
  root: string,
): Promise<number | undefined | readonly string[]> {
  if (rest.length > 0) return undefined;
  const terminal = terminalOf();
  const full = word === undefined ? ['home'] : undefined;
  try {
    if (word === undefined && !(terminal.isTTY && userArea().sense.isSetUp)) return undefined;
    const context = createContext(root);
    const result = word === 'status' ? await overview(context) : undefined;
    if (result?.parts.some(({ id }) => id === 'configuration') === true) return full;
    const text =
      result === undefined
        ? await homeText(context, terminal)
        : overviewText(result, terminal, await offerSync(context));
    const notice = takeNotice(context.area.root, context.area.host);
    writeOut(`${foldFor('stdout', text)}\n`);
    if (notice !== '') writeErr(`${foldFor('stderr', notice)}\n`);
  } catch {
    return full;
  }
  await exitAtOnce();
  return 0;
}
