import { basename, join } from 'node:path';

import { sharedRoutes } from '../config/shared-routes';
import { readProjects } from '../goals/record';
import { sharedGoals, sharedProjects } from '../goals/shared';
import { sharedTerms } from '../notify/speech/shared-terms';
import { listFolder } from '../platform/files/folder';
import { isMachineId } from '../platform/files/machine';
import { expandHome, processHost } from '../platform/files/paths';
import { marksOf } from '../platform/files/stat';
import { sharedKinds } from '../sense/shared-kinds';
import { namesFolder } from '../sessions/names';
import { isRestricted } from '../sessions/restricted';
import { currentSessions } from '../sessions/state';
import { machinesFolder } from '../sync/exchange';
import { sharedNames } from '../sync/session-names';
import { KNOWN_FILE, SHARED_FILE, type ShareDeps } from '../sync/settings';
import type { Context } from './context';
import { openSessions } from './sessions';

/** Returns a function that reads what this machine may share, and the files on which its result depends. */
export function openSharing(context: Context, folder: string) {
  const { area, clock, machineId } = context;
  const ids = listFolder(machinesFolder(folder)).filter((id) => isMachineId(id) && id !== machineId);
  const others = ids.map((id) => join(machinesFolder(folder), id, SHARED_FILE));
  const known = join(area.machine, KNOWN_FILE);
  const edited = [area.config, area.goals, area.projects, area.pronunciations, area.sense.classify];
  return {
    files: [...edited, namesFolder(area.machine), known, ...others],
    open: async (): Promise<ShareDeps> => ({
      nowMs: clock.now(),
      machineId,
      known,
      others,
      groups: await groupsOf(context),
      changedMs: (files) => marksOf(files).newestMs,
    }),
  };
}

async function groupsOf(context: Context): Promise<ShareDeps['groups']> {
  const { area } = context;
  const { repos } = (await context.loadConfig()).config.sense;
  const { home } = processHost();
  const places = [...repos.map((path) => ({ name: path, path })), ...readProjects(area.projects)];
  const closed = places
    .filter(({ path }) => isRestricted(path))
    .flatMap(({ name, path }) => [name, path].map((text) => basename(text).toLowerCase()));
  const isClosed = (name: string): boolean => closed.includes(name.toLowerCase());
  const sessions = Object.values(currentSessions(await openSessions(context)).sessions);
  return {
    app: sharedKinds(area.sense.classify),
    goal: sharedGoals(area.goals, isClosed),
    project: sharedProjects(
      area.projects,
      ({ name, path }) => isClosed(name) || isRestricted(expandHome(path, home)),
    ),
    say: sharedTerms(area.pronunciations),
    name: sharedNames(namesFolder(area.machine), sessions),
    route: sharedRoutes(context),
  };
}
