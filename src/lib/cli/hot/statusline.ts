import { userArea } from '../../config/user-area';
import { systemClock } from '../../platform/time/clock';
import { machineId } from '../../platform/files/machine';
import { keptHookSettings } from '../../app/hook-settings';
import { sessionsDeps } from '../../app/sessions';
import { keptCreation, lineOf, writeLine } from '../statusline';
import type { StatusLine } from '../../sessions/status-line';

/**
 * `steward statusline [--json]`. The full command answers when something that the line is made of has changed,
 * and keeps it for the next time; and when anything is wrong, to say so.
 */
export async function run(argv: readonly string[]): Promise<number | undefined> {
  const json = argv[0] === '--json';
  if (argv.length > (json ? 1 : 0)) return undefined;
  const line = await lineNow();
  if (line === undefined) return undefined;
  writeLine(line, json);
  return 0;
}

async function lineNow(): Promise<StatusLine | undefined> {
  try {
    const area = userArea();
    const settings = keptHookSettings(area);
    const creation = keptCreation(area);
    if (settings === undefined || creation === undefined) return undefined;
    return await lineOf(sessionsDeps({ area, clock: systemClock(), machineId }, settings), creation);
  } catch {
    // Nothing was read of stdin: the full command meets the same, and says what it is.
    return undefined;
  }
}
