import { join } from 'node:path';

import { periodicJob, type DaemonJob } from '../daemon/jobs';
import type { DaemonLog } from '../daemon/log';
import { eventWatch } from '../daemon/program-events';
import { eventSources } from '../daemon/program-sources';
import { programRunner, programsFinding, programsFor, type ProgramDeps } from '../daemon/programs';
import { acceptRequest } from '../notify/accept';
import type { Context } from './context';
import { openKnown } from './elsewhere';
import type { NotifyContext } from './notify';
import { openRunning, openSessions } from './sessions';
import { openWork } from './work';

export function openProgramDeps({ area, clock, run }: Context): ProgramDeps {
  return { clock, run, root: area.root, disabled: join(area.machine, 'programs.json') };
}

/** Runs programs on events that the stored state shows. Hooks take no part in it. */
export function openPrograms(context: Context, { deps: notify }: Pick<NotifyContext, 'deps'>) {
  const deps = openProgramDeps(context);
  let runner: ReturnType<typeof programRunner> | undefined;
  return {
    job(log: DaemonLog): DaemonJob {
      const about = { event: 'error', voiceEnabled: false, source: 'job' } as const;
      const notice = (message: string) => acceptRequest(notify, { ...about, tags: [], message });
      const { emit } = (runner = programRunner({ ...deps, ...log, notify: notice }));
      const sources = eventSources({
        area: context.area,
        clock: context.clock,
        running: async () => openRunning(context, await openSessions(context)),
        work: async () => (await openWork(context)).deps,
        elsewhere: async () => (await openKnown(context)).rows,
      });
      const watch = eventWatch(sources, emit);
      return periodicJob('programs', 'programs', 1, () =>
        watch((event) => programsFor(deps, event).some(({ why }) => why === null)),
      );
    },
    module: {
      id: 'programs',
      label: 'Programs on events',
      health: () => programsFinding(deps, runner?.dropped() ?? 0),
    },
  };
}
