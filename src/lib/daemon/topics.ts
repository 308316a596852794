import { configPaths } from '../config/files';
import type { UserArea } from '../config/user-area';
import type { Inbox } from '../inbox/row';
import { folderOf } from '../platform/files/spool';
import { namesFolder } from '../sessions/names';
import type { Topic } from './changes';
import { inboxFiles } from './inbox-files';
import type { DaemonStatus } from './status';

/** Returns the documents that pages follow, and the files on which each depends. */
export function topicsOf(area: UserArea): Topic[] {
  const sense = [...configPaths(area), area.sense.state, area.sense.daily, area.sense.classify];
  const sessions = [area.sessionsState, area.workEvents, namesFolder(area.machine)];
  const work = [...configPaths(area), area.work.cache];
  const queues = [area.outbox, area.spool].flatMap((path) => [path, folderOf({ path }, 'dead')]);
  const notify = [...configPaths(area), area.outbox, area.notifyLog, area.mute];
  return [
    { name: 'sessions', path: '/api/sessions', files: () => sessions, everySec: 5 },
    {
      name: 'inbox',
      path: '/api/inbox',
      files: () => [...sessions, ...inboxFiles(area)],
      everySec: 5,
      shown: ({ rows }: Inbox) => rows,
    },
    { name: 'day', path: '/api/day', files: () => [...sense, area.work.cache], everySec: 60 },
    { name: 'sense', path: '/api/sense/status', files: () => sense, everySec: 60 },
    { name: 'work', path: '/api/work', files: () => [...work, area.work.poll], everySec: 60 },
    {
      name: 'status',
      path: '/api/status',
      files: () => queues,
      everySec: 10,
      shown: ({ modules, outbox, spool, jobs }: DaemonStatus) => ({
        modules,
        outbox,
        spool,
        jobs: jobs.map(({ id, lastOk, reason }) => ({ id, lastOk, reason })),
      }),
    },
    { name: 'notify', path: '/api/notify', files: () => notify, everySec: 30 },
  ];
}
