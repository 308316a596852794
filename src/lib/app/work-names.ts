import { readGoals, readProjects } from '../goals/record';
import { currentSessions } from '../sessions/state';
import { workNames } from '../time/ledger/names';
import type { WorkNames } from '../time/ledger/rows';
import { itemsOf } from '../work/board';
import type { Context } from './context';
import { openSessions } from './sessions';
import { openWork } from './work';

/** Returns a function that reads the names of sessions, issues and goals, from local files only. */
export async function openWorkNames(context: Context): Promise<() => WorkNames> {
  const { area } = context;
  const sessions = await openSessions(context);
  const { deps } = await openWork(context);
  return () =>
    workNames({
      sessions: Object.values(currentSessions(sessions).sessions),
      items: itemsOf(deps, deps.workRepo()),
      projects: readProjects(area.projects),
      goals: readGoals(area.goals),
    });
}
