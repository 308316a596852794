import { join } from 'node:path';

import { periodicJob, type DaemonJob } from '../daemon/jobs';
import type { DaemonLog } from '../daemon/log';
import { eventWatch, type EventSources } from '../daemon/program-events';
import { programRunner, programsFinding, programsFor, type ProgramDeps } from '../daemon/programs';
import { acceptRequest } from '../notify/accept';
import { readEntries } from '../notify/history';
import { senseStore } from '../sense/store';
import { rowsOf, type SessionRow } from '../sessions/rows';
import { isNameless } from '../sessions/slug';
import { itemsOf } from '../work/board';
import type { Context } from './context';
import { openKnown } from './elsewhere';
import type { NotifyContext } from './notify';
import { openRunning, openSessions } from './sessions';
import { openWork } from './work';

const MAX_READ = 200;

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
      const watch = eventWatch(sourcesOf(context), emit);
      return periodicJob('programs', 'programs', 1, () =>
        watch((event) => programsFor(deps, event).some(({ why }) => why === null)),
      );
    },
    module: {
      ...{ id: 'programs', label: 'Programs on events' },
      health: () => programsFinding(deps, runner?.dropped() ?? 0),
    },
  };
}

function sourcesOf(context: Context): EventSources {
  const { area, clock } = context;
  const running = [area.sessionsState, area.workEvents];
  const notifications = [area.notifyLog, area.outbox];
  const sessions = async () => {
    const all = openRunning(context, await openSessions(context)).sessions;
    // Sessions without names work in restricted folders.
    const rows = rowsOf(Object.values(all), { nowMs: clock.now() }).filter(({ slug }) => !isNameless(slug));
    return rows.map((row) => ({ row, startedAt: all[row.slug]?.turnAt ?? null }));
  };
  const sent = () =>
    readEntries({ history: area.notifyLog, outbox: area.outbox }, MAX_READ)
      .filter(({ duplicateOf }) => duplicateOf === null)
      .map(({ id, event: type, priority, title, text }) => ({ id, type, priority, title, text }))
      .reverse();
  return {
    'session-waiting': {
      files: running,
      read: async () => waitsIn((await sessions()).map(({ row }) => row)),
    },
    'turn-ended': {
      files: running,
      async read() {
        const turns = (await sessions()).filter(({ startedAt }) => startedAt !== null);
        const ended = turns.filter(({ row }) => row.status === 'waiting' && row.waitingFor === null);
        return ended.map(({ row, startedAt }) => ({ ...aboutOf(row), startedAt }));
      },
    },
    'limit-near': { files: notifications, read: () => sent().filter(({ type }) => type === 'limit') },
    notification: { files: notifications, read: sent },
    'day-rolled': {
      files: [area.sense.daily],
      read: () => senseStore(area).recordedDays().slice(-1).map((day) => ({ day })), // prettier-ignore
    },
    'issue-closed': {
      files: [area.work.cache],
      async read() {
        const { deps } = await openWork(context);
        const items = itemsOf(deps, deps.workRepo());
        const closed = items.filter(({ state }) => state === 'closed');
        const fields = closed.map(({ number, title, url, closedAt }) => ({ number, title, url, closedAt }));
        // The first list has all issues that were ever closed.
        return items.length === 0 ? undefined : fields;
      },
    },
    'machine-news': { read: async () => waitsIn((await openKnown(context)).rows) },
  };
}

function waitsIn(rows: readonly SessionRow[]) {
  const waiting = rows.filter(({ waitingFor }) => waitingFor !== null);
  return waiting.map((row) => ({ ...aboutOf(row), waitingFor: row.waitingFor }));
}

function aboutOf({ slug, name, repo, branch, assistant, elsewhere, waitingSince }: SessionRow) {
  const machine = elsewhere?.machine ?? null;
  return { session: slug, name, repo, branch, assistant, machine, since: waitingSince };
}
