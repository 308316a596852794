import { userArea } from '../../config/user-area';
import { systemClock } from '../../platform/time/clock';
import { stdoutTerminal, writeOut } from '../../platform/terminal/stdio';
import { keptSummary } from '../../work/board-summary';
import { boardText } from '../../work/view';
import { keptBoardSettings } from '../../app/board-settings';

/**
 * `steward work board` while the board is up to date: the daemon keeps it so, or it was read a moment ago. Flags,
 * mistakes, a board to be asked for anew, and the run after a change of anything that it is made of are the full
 * command's.
 */
export function run(argv: readonly string[]): number | undefined {
  if (argv.length > 0) return undefined;
  const text = textNow();
  if (text === undefined) return undefined;
  writeOut(`${text}\n`);
  return 0;
}

function textNow(): string | undefined {
  try {
    const area = userArea();
    const settings = keptBoardSettings(area);
    if (settings === undefined) return undefined;
    const clock = systemClock();
    const { work: config, workRepo } = settings;
    const board = keptSummary({ clock, config, paths: area.work, workRepo: () => workRepo });
    if (board === undefined) return undefined;
    // The zone is for the date of a stale board, which is the full command's.
    return boardText(board, { ...stdoutTerminal(), timezone: 'UTC', nowMs: clock.now() });
  } catch {
    // The full command meets the same, and says what it is.
    return undefined;
  }
}
