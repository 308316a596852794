import { join } from 'node:path';

import type { UserArea } from '../config/user-area';

/** The token of the daemon: machine-local, never in a user area that a person may sync (decisions.md 9). */
export function tokenPath(area: Pick<UserArea, 'machine'>): string {
  return join(area.machine, 'daemon.token');
}
