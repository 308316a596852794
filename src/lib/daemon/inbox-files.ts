import { join } from 'node:path';

import { sessionLogPath } from '../agents/managed/session-log';
import { localSessions } from '../agents/managed/sessions';
import { configPaths } from '../config/files';
import type { UserArea } from '../config/user-area';
import { deadFolder } from '../notify/outbox';
import { readInstallManifest } from '../platform/files/install-manifest';

/** Returns the files on which the waits depend. */
export function inboxFiles(area: UserArea): string[] {
  const { work, managed, installManifest } = area;
  return [
    ...configPaths(area),
    ...[work.cache, work.reviews, area.inbox, area.asks, area.spool, deadFolder(area), area.notifyLog],
    ...[join(area.machine, 'usage'), join(area.machine, 'hosts')],
    ...[managed, ...localSessions(managed).map((id) => sessionLogPath(managed, id))],
    ...[installManifest, ...readInstallManifest(installManifest).map(({ path }) => path)],
  ];
}
