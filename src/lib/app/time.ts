import { readGoals } from '../goals/record';
import type { Period } from '../platform/time/period';
import { timeSpent } from '../sense/time-spent';
import type { TimeKey } from '../time/ledger/rows';
import type { Context } from './context';
import { openMachines } from './machines';
import { openSense } from './sense';
import { openWorkNames } from './work-names';

/** Returns how time was spent in a period. Writes nothing. */
export async function openTime(
  context: Context,
  period: Period,
  { by, machine }: { by: TimeKey; machine?: string | undefined },
) {
  const sense = await openSense(context);
  const notes: string[] = [];
  const deps = await openMachines(context, sense.deps, machine, (text) => notes.push(text));
  const names = (await openWorkNames(context))();
  const spent = timeSpent({ ...deps, names, goals: readGoals(context.area.goals) }, { period, by });
  return { ...spent, notes: [...spent.notes, ...notes] };
}
