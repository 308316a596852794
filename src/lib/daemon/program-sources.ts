import type { Machine } from '../config/user-area';
import { readEntries } from '../notify/history';
import { senseStore } from '../sense/store';
import { rowsOf, type SessionRow } from '../sessions/rows';
import type { SessionsState } from '../sessions/session';
import { isNameless } from '../sessions/slug';
import { itemsOf } from '../work/board';
import type { WorkDeps } from '../work/deps';
import type { EventSources } from './program-events';

const MAX_READ = 200;

interface SourceDeps extends Pick<Machine, 'area' | 'clock'> {
  running: () => Promise<SessionsState>;
  work: () => Promise<WorkDeps>;
  /** Returns the known sessions of other machines. */
  elsewhere: () => Promise<readonly SessionRow[]>;
}

/** Returns where the events of programs are stored. */
export function eventSources({ area, clock, work, ...deps }: SourceDeps): EventSources {
  const running = [area.sessionsState, area.workEvents];
  const notifications = [area.notifyLog, area.outbox];
  const sessions = async () => {
    const all = (await deps.running()).sessions;
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
        const opened = await work();
        const items = itemsOf(opened, opened.workRepo());
        const closed = items.filter(({ state }) => state === 'closed');
        const fields = closed.map(({ number, title, url, closedAt }) => ({ number, title, url, closedAt }));
        // The first list has all issues that were ever closed.
        return items.length === 0 ? undefined : fields;
      },
    },
    'machine-news': { read: async () => waitsIn(await deps.elsewhere()) },
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
