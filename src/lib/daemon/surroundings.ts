import type { Machine } from '../config/user-area';
import type { Presence } from '../notify/triggers';
import type { Session } from '../sessions/session';
import type { SessionsDeps } from '../sessions/state';

/** What jobs about you and your sessions need. */
export interface Surroundings {
  machine: Machine;
  openSessions: () => Promise<SessionsDeps>;
  presence: (session: Session | undefined) => Promise<Presence>;
}
