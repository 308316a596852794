import { machineIn, route, type Route } from '../daemon/route';
import type { Session, SessionsState } from '../sessions/session';
import { titleOf } from '../sessions/rows';
import type { Day } from '../platform/time/time';
import type { DayTimeline, SessionParts } from '../time/day-timeline';
import type { LiveReads } from '../sense/live';
import type { MachineRow } from '../time/machines/model';
import type { MachineName } from '../time/machines/read';
import type { DayDetail, ReadDeps } from '../sense/read';
import { todayOf } from '../sense/roll';
import { isReminder, itemsOf } from '../work/board';
import type { WorkDeps } from '../work/deps';
import { parseTitle } from '../work/issue';
import type { Context } from './context';
import { withMachines } from './machines';

/** The response of `GET /api/day`. Times are in seconds since the start of the day. */
export interface DayDocument
  extends Omit<DayTimeline, 'sessions'>, Pick<DayDetail, 'record' | 'notSeen' | 'raw' | 'startMs'> {
  day: Day;
  timezone: string;
  final: boolean;
  sessions: DaySession[];
  /** The machines with data for the day; absent if this is the only machine. */
  machines?: MachineRow[];
  others?: OtherTimeline[];
  closed: { number: number; title: string; at: number }[];
}

export interface OtherTimeline extends MachineName, Omit<DayTimeline, 'sessions'> {
  sessions: DaySession[];
}

export interface DaySession extends Pick<SessionParts, 'repo' | 'branch' | 'parts'> {
  slug: string;
  title: string;
  issue: number | null;
}

export interface DayDeps {
  sense: () => Promise<{ deps: ReadDeps; readDay: (words: string) => Promise<Day> }>;
  day: LiveReads['day'];
  work: () => Promise<WorkDeps>;
  sessions: () => Promise<SessionsState>;
}

/** Handles `GET /api/day?day=2026-11-20`, which returns a day and its timeline. Default: today. */
export function dayRoute(
  context: Context,
  { sense, day: read, work, sessions: readSessions }: DayDeps,
): Route {
  return route({
    method: 'GET',
    path: '/api/day',
    input: ({ query }) => ({ words: query.get('day'), machine: machineIn(query) }),
    async run({ words, machine }): Promise<DayDocument> {
      const { deps: all, readDay } = await sense();
      const deps = machine === undefined ? all : await withMachines(context, all, machine);
      const day = words === null ? todayOf(deps) : await readDay(words);
      const { record, notSeen, raw, timeline, others, startMs, endMs } = read(deps, day);
      const { sessions } = await readSessions();
      const { timezone, final } = record;
      return {
        ...{ day, timezone, startMs, final, record, notSeen, raw, ...timeline },
        sessions: daySessions(timeline.sessions, Object.values(sessions)),
        ...('machines' in record && { machines: record.machines }),
        ...(others && {
          others: others.map(({ id, name, timeline: other }) => ({
            ...{ id, name, ...other },
            sessions: daySessions(other.sessions, []),
          })),
        }),
        closed: closedBetween(await work(), startMs, endMs),
      };
    },
  });
}

/** Merges the parts of each session, and sorts the sessions by time spent, longest first. */
function daySessions(found: readonly SessionParts[], sessions: readonly Session[]): DaySession[] {
  const byId = new Map(sessions.flatMap((session) => session.sessionIds.map((id) => [id, session] as const)));
  const rows = new Map<string, DaySession>();
  for (const { id, repo, branch, parts, ...told } of found) {
    const session = byId.get(id);
    const slug = session?.slug ?? told.slug ?? id;
    const known = rows.get(slug);
    rows.set(slug, {
      slug,
      title: session === undefined ? (told.title ?? `${repo ?? 'assistant'} session`) : titleOf(session),
      repo: repo ?? session?.repo ?? null,
      branch: branch ?? session?.branch ?? null,
      issue: session?.github_issue ?? told.issue ?? null,
      parts: [...(known?.parts ?? []), ...parts].sort((a, b) => a[0] - b[0]),
    });
  }
  const secondsOf = ({ parts }: DaySession): number => parts.reduce((sum, [, length]) => sum + length, 0);
  return [...rows.values()].sort((a, b) => secondsOf(b) - secondsOf(a));
}

function closedBetween(deps: WorkDeps, fromMs: number, toMs: number): DayDocument['closed'] {
  const closed = itemsOf(deps, deps.workRepo()).flatMap((item) => {
    const ms = Date.parse(item.closedAt ?? '');
    const isOfDay = ms >= fromMs && ms < toMs && item.stateReason !== 'not_planned' && !isReminder(item);
    const title = parseTitle(item.title).text;
    return isOfDay ? [{ number: item.number, title, at: Math.floor((ms - fromMs) / 1000) }] : [];
  });
  return closed.sort((a, b) => a.at - b.at);
}
