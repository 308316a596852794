import { checkEnd, findRow } from '../inbox/find';
import { checkSnooze, mark } from '../inbox/marks';
import { toIso } from '../platform/time/clock';
import { readWhen } from '../work/due';
import { zonedNow, type Context } from './context';
import { openInbox } from './inbox';

/**
 * Marks the row with these words as snoozed until a time given in words, or as done; `now` lists it again. Returns
 * the row and the time. Without a time, throws `conflict` if the row ends only when what it waits for happens.
 */
export async function openMark(context: Context, words: string, when?: string) {
  const { area, clock, machineId } = context;
  const isBack = when?.trim() === 'now';
  const row = findRow((await openInbox(context, isBack ? 'snoozed' : 'all')).rows, words, isBack);
  if (when === undefined) checkEnd(row);
  const zoned = await zonedNow(context);
  const untilMs = when === undefined ? null : isBack ? zoned.nowMs : await readWhen(when, zoned);
  if (untilMs !== null) checkSnooze(untilMs, zoned.nowMs);
  await mark({ area, clock, machineId }, [row], untilMs);
  return { row, until: untilMs === null ? null : toIso(untilMs) };
}
