import type { Day } from '../platform/time/time';
import type { LiveReads } from '../sense/live';
import { damagedDays, prepareDay, type ReadDeps } from '../sense/read';
import { todayOf } from '../sense/roll';
import type { SessionsState } from '../sessions/session';
import { daySessions } from '../time/day-sessions';
import { recordDocument } from '../time/record';
import type { WorkDeps } from '../work/deps';
import { closedBetween } from '../work/issue-facts';
import { machineIn, route, type Route } from './route';
import type { SenseRoutesDeps } from './routes';

/** The response of `GET /api/day`. Times are in seconds since the start of the day. */
export type DayDocument = Awaited<ReturnType<typeof dayDocument>>;

interface DayDeps {
  sense: () => Promise<{ deps: ReadDeps; readDay: (words: string) => Promise<Day> }>;
  daysOfMachine: SenseRoutesDeps['daysOfMachine'];
  day: LiveReads['day'];
  sessions: () => Promise<SessionsState>;
  work: () => Promise<WorkDeps>;
}

/** Handles `GET /api/day?day=2026-11-20`, which returns a day and its timeline. Default: today. */
export function dayRoute(deps: DayDeps): Route {
  return route({
    method: 'GET',
    path: '/api/day',
    input: ({ query }) => ({ words: query.get('day'), machine: machineIn(query) }),
    run: (asked) => dayDocument(deps, asked),
  });
}

async function dayDocument(
  { sense, daysOfMachine, day: read, sessions, work }: DayDeps,
  { words, machine }: { words: string | null; machine: string | undefined },
) {
  const { deps: all, readDay } = await sense();
  const deps = machine === undefined ? all : await daysOfMachine(all, machine);
  const day = words === null ? todayOf(deps) : await readDay(words);
  await prepareDay(deps, day);
  const { record, notSeen, raw, timeline, others, startMs, endMs } = read(deps, day);
  return {
    day,
    timezone: record.timezone,
    startMs,
    final: record.final,
    record: recordDocument(record),
    notSeen,
    raw,
    ...timeline,
    sessions: daySessions(timeline.sessions, Object.values((await sessions()).sessions)),
    /** The machines with data for the day; absent if this is the only machine. */
    ...('machines' in record && { machines: record.machines }),
    ...(others && {
      others: others.map(({ timeline: other, ...machine }) => ({
        ...machine,
        ...other,
        sessions: daySessions(other.sessions, []),
      })),
    }),
    closed: closedBetween(await work(), startMs, endMs),
    /** How many repositories are watched for commits. */
    watched: all.config.repos.length,
    /** The days of the last week with a record that can't be read; only with today. */
    ...(words === null && { damaged: damagedDays(all, 7) }),
  };
}
