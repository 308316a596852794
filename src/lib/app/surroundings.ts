import type { Surroundings } from '../daemon/surroundings';
import { isAtDesk, type Presence } from '../notify/triggers';
import { readPresence } from '../sense/presence';
import type { Session } from '../sessions/session';
import { isNameless } from '../sessions/slug';
import { isAtAnother } from '../sync/live';
import { isAtOther } from '../sync/turn';
import type { Context } from './context';
import { openSessions } from './sessions';
import { openTurns } from './sync-turns';

/** Returns your presence, or `unknown` if sense or its `appFocus` source is off. Stores nothing. */
export async function presenceOf(context: Context, session: Session | undefined): Promise<Presence> {
  const { sense, user } = (await context.loadConfig()).config;
  if (!context.area.sense.isSetUp || !sense.enabled || !sense.sources.appFocus) return 'unknown';
  const isHere = session !== undefined && session.machine === context.machineId;
  const presence = await readPresence(context.desktop, isHere ? session.terminal : null, context.clock.now());
  if (isAtDesk(presence)) return presence;
  const { folder } = user.sync;
  // Another machine can't tell what is restricted, because it is not published.
  const isTold = session !== undefined && !isNameless(session.slug) && folder !== undefined;
  if (isTold && isAtAnother(folder, context.machineId, context.clock.now())) return 'elsewhere';
  return presence === 'unknown' && isAtOther(await openTurns(context)) ? 'away' : presence;
}

/** Returns what jobs about you and your sessions need. */
export function openSurroundings(context: Context): Surroundings {
  return {
    machine: context,
    openSessions: () => openSessions(context),
    presence: (session) => presenceOf(context, session),
  };
}
