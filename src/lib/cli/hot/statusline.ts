import { userArea } from '../../config/user-area';
import { systemClock } from '../../platform/clock';
import { machineId } from '../../platform/machine';
import { keptHookSettings } from '../hook-settings';
import { sessionsDeps } from '../sessions-context';
import { keptCreation, lineOf, writeLine } from '../statusline';

/**
 * `steward statusline [--json]`. The full command answers when something that the line is made of has changed,
 * and keeps it for the next time; and when anything is wrong, to say so.
 */
export async function run(argv: readonly string[]): Promise<number | undefined> {
  const json = argv[0] === '--json';
  if (argv.length > (json ? 1 : 0)) return undefined;
  const ready = prepared();
  if (ready === undefined) return undefined;
  writeLine(await lineOf(ready.deps, ready.creation), json);
  return 0;
}

function prepared(): { deps: ReturnType<typeof sessionsDeps>; creation: number | null } | undefined {
  try {
    const area = userArea();
    const settings = keptHookSettings(area);
    const creation = keptCreation(area);
    if (settings === undefined || creation === undefined) return undefined;
    return { deps: sessionsDeps({ area, clock: systemClock(), machineId }, settings), creation };
  } catch {
    return undefined;
  }
}
