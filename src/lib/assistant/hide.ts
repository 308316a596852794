import { join } from 'node:path';

import { slugOfArtifact } from '../sessions/artifact';
import { namesFolder, removeNames } from '../sessions/names';
import { markRestricted } from '../sessions/restricted';
import { isNameless } from '../sessions/slug';
import { runningSessions, type SessionsDeps } from '../sessions/state';
import { restrictUnseen, turnStart } from '../sessions/unseen-artifact';
import type { WorkEvent } from '../sessions/work-events';

/** What steward may already know about a session that is restricted. */
export interface Hides {
  /** The session's slug before this event. */
  known: string | undefined;
  /** The file that the event's tool wrote. */
  file: string | undefined;
}

/** Restricts the session files that a restricted session may have written, and removes its name and title. */
export function hide(deps: SessionsDeps, { type, session: id }: WorkEvent, { known, file }: Hides): void {
  if (!isNameless(known ?? '')) removeNames(namesFolder(deps.area.machine), id);
  for (const slug of [known, slugOfArtifact(deps.area.sessions, file ?? '')])
    if (slug !== undefined) markRestricted(join(deps.area.sessions, slug));
  if (['tool-after', 'stop', 'session-end'].includes(type)) hideUnseen(deps, id);
}

function hideUnseen(deps: SessionsDeps, id: string): void {
  const { sessions } = runningSessions(deps);
  const own = Object.values(sessions).find(({ sessionIds }) => sessionIds.includes(id));
  if (own !== undefined) restrictUnseen(deps.area, sessions, turnStart(own));
}
