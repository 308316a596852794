import type { Sight } from '../notify/triggers';
import { exists } from '../platform/files/folder';
import { seePerson } from '../sense/presence';
import type { Session } from '../sessions/session';
import type { Context } from './context';

/** Where the person is, by what sense may look at; unknown where it is not set up or is off. Nothing is stored. */
export async function sightOf(context: Context, session: Session | undefined): Promise<Sight> {
  const { sense } = (await context.loadConfig()).config;
  if (!exists(context.area.sense.config) || !sense.enabled || !sense.sources.appFocus) return 'unknown';
  const isHere = session !== undefined && session.machine === context.machineId;
  return seePerson(context.desktop, isHere ? session.terminal : null);
}
