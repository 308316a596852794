import { join } from 'node:path';

import type { Job } from '../daemon/jobs';
import { machineIn, oneOf, route, wholeNumber, type Route } from '../daemon/route';
import { StewardError, toStewardError } from '../errors';
import { acceptRequest } from '../notify/accept';
import { processHost } from '../platform/files/paths';
import { localTimes } from '../platform/time/day-words';
import { addDays, dayOf, type Day } from '../platform/time/time';
import { collectUsage, problemsOf, readProblems, type UsageDeps } from '../usage/collect';
import type { Source } from '../usage/find-logs';
import { readDayRows, daysIn } from '../usage/days';
import { announceLimits, currentLimits, limitTexts } from '../usage/limits';
import { pricesWith, type Prices } from '../usage/prices';
import { purgeUsage as purge, type UsageSelection } from '../usage/purge';
import {
  GROUPINGS,
  unpricedModels,
  usageBy,
  type DatedRow,
  type Grouping,
  type Usage,
  type UsageRow,
} from '../usage/rollup';
import type { UsageReport } from '../usage/view';
import { namesOf } from '../sessions/describe';
import { restrictedList } from '../sessions/restricted';
import { currentSessions } from '../sessions/state';
import type { Context } from './context';
import type { UsageOfMachines } from './machine-usage';
import type { NotifyContext } from './notify';
import { openSessions } from './sessions';

interface UsageContext {
  deps: UsageDeps & { limits: string };
  enabled: boolean;
  prices: Prices;
}

async function openUsage(context: Context): Promise<UsageContext> {
  const { area, clock } = context;
  const { user } = (await context.loadConfig()).config;
  return {
    deps: {
      ...{ clock, host: processHost(), zone: user.timezone, days: area.usage, limits: area.limits },
      ...{ state: join(area.machine, 'usage'), restricted: restrictedList(area.sessionsState) },
      get machineId() {
        return context.machineId;
      },
    },
    enabled: user.usage.enabled,
    prices: pricesWith(user.usage.prices),
  };
}

type Merged = Pick<UsageOfMachines, 'rows'> & Partial<UsageOfMachines>;

const MAX_DAYS = 3660;

function daysFrom(days: number): number {
  if (days >= 1 && days <= MAX_DAYS) return days;
  throw new StewardError('usage', `Invalid number of days: ${days}.`, { hint: `Use 1 to ${MAX_DAYS}.` });
}

function rowsBetween({ days: folder }: UsageDeps, from: Day, to: Day, notes: string[]): DatedRow[] {
  const note = (path: string): unknown => notes.push(`${path} is damaged and was skipped.`);
  return daysIn(folder)
    .filter((day) => day >= from && day <= to)
    .flatMap((day) => readDayRows(folder, day, note).map((row) => ({ ...row, day })));
}

async function rowsIn(
  context: Context,
  { deps }: Pick<UsageContext, 'deps'>,
  { from, to }: { from: Day; to: Day },
  notes: string[],
  machine?: string,
): Promise<Merged> {
  const own = (): DatedRow[] => rowsBetween(deps, from, to, notes);
  const { folder } = (await context.loadConfig()).config.user.sync;
  if (folder === undefined && machine === undefined) return { rows: own() };
  const { usageOfMachines } = await import('./machine-usage');
  return usageOfMachines(context, { folder, machine, from, to }, own, (text) => notes.push(text));
}

function recentRows(
  context: Context,
  opened: UsageContext,
  { days, machine }: { days: number; machine?: string | undefined },
  notes: string[],
): Promise<Merged> {
  const today = dayOf(opened.deps.clock.now(), opened.deps.zone);
  return rowsIn(context, opened, { from: addDays(today, 1 - daysFrom(days)), to: today }, notes, machine);
}

/** Reads new lines of the assistants' logs, and returns the usage of the last `days` days. */
export async function usageNow(
  context: Context,
  by: Grouping,
  days: number,
  machine?: string,
): Promise<UsageReport> {
  daysFrom(days);
  const opened = await openUsage(context);
  const { deps, enabled, prices } = opened;
  const notes: string[] = [];
  const sources = enabled ? await collected(deps, notes) : [];
  const { rows, machines } = await recentRows(context, opened, { days, machine }, notes);
  const nowMs = deps.clock.now();
  return {
    ...{
      usage: withNotes({ ...usageBy(rows, by, prices), ...machines }, [...problemsOf(sources), ...notes]),
    },
    ...{ by, days, sources, notes },
    limits: limitTexts(currentLimits(deps, nowMs), localTimes(deps.clock, deps.zone)),
    unpriced: unpricedModels(rows, prices),
    names: by === 'session' ? await sessionNames(context) : new Map(),
  };
}

function withNotes(usage: Usage, notes: string[]): Usage {
  return notes.length === 0 ? usage : { ...usage, notes };
}

/**
 * Reads new lines of the assistants' logs. If another process is reading the logs, adds a note and returns no
 * sources.
 */
async function collected(deps: UsageDeps, notes: string[]): Promise<Source[]> {
  try {
    return await collectUsage(deps);
  } catch (error) {
    const { kind, message } = toStewardError(error);
    if (kind === 'internal') throw error;
    notes.push(
      kind === 'locked'
        ? 'The daemon is still reading the logs, so these figures may be incomplete.'
        : `Cannot store new usage: ${message}`,
    );
    return [];
  }
}

async function sessionNames(context: Context): Promise<Map<string, string>> {
  const sessions = Object.values(currentSessions(await openSessions(context)).sessions);
  const names = namesOf(sessions);
  return new Map(
    sessions.flatMap(({ slug, sessionIds }) =>
      sessionIds.map((id) => [id, names.get(slug) ?? slug] as const),
    ),
  );
}

/** Returns the stored usage of a period by assistant, without reading the assistants' logs. */
export async function usageOfDays(
  context: Context,
  period: { from: Day; to: Day },
  { repo, machine }: { repo?: string | undefined; machine?: string | undefined },
  notes: string[],
): Promise<Usage> {
  const { deps, prices } = await openUsage(context);
  const { rows } = await rowsIn(context, { deps }, period, notes, machine);
  const wanted = repo?.toLowerCase();
  const shown = wanted === undefined ? rows : rows.filter((row) => row.repo?.toLowerCase() === wanted);
  return usageBy(shown, 'assistant', prices);
}

/** Returns the stored usage of the last `days` days by session, without reading the assistants' logs. */
export async function usageOfSessions(context: Context, days: number): Promise<UsageRow[]> {
  const opened = await openUsage(context);
  const { rows } = await recentRows(context, opened, { days }, []);
  return usageBy(rows, 'session', opened.prices).rows;
}

/** Returns a line for each assistant with a known usage limit, and the problems of the last usage run. */
export async function limitsNow(
  context: Context,
): Promise<{ limits: string[]; problems: readonly string[] }> {
  const { deps } = await openUsage(context);
  const limits = limitTexts(currentLimits(deps, deps.clock.now()), localTimes(deps.clock, deps.zone));
  return { limits, problems: readProblems(deps.state) };
}

/** Removes stored usage. Returns the affected days. */
export async function purgeUsage(
  context: Context,
  selection: UsageSelection,
  dryRun: boolean,
): Promise<Day[]> {
  const { deps, enabled } = await openUsage(context);
  return purge(deps, selection, { dryRun, readsLogs: enabled });
}

const JOB_SEC = 120;
const DEFAULT_DAYS = 7;

/** Returns the job that reads the assistants' logs and notifies you about usage limits. */
export function usageJob(context: Context, notify: Pick<NotifyContext, 'deps'>): Job {
  return {
    id: 'usage',
    everySec: () => JOB_SEC,
    async run() {
      const { deps, enabled } = await openUsage(context);
      if (!enabled) return 'usage.enabled is false';
      const sources = await collectUsage(deps);
      const nowMs = deps.clock.now();
      const localTime = localTimes(deps.clock, deps.zone);
      await announceLimits({ ...deps, nowMs, localTime }, ({ message, dedupe }) =>
        acceptRequest(notify.deps, {
          ...{ event: 'limit', message, dedupe, voiceEnabled: false, source: 'job', tags: [] },
        }),
      );
      const bad = sources.find(({ problem }) => problem !== undefined);
      return bad && `${bad.name}: ${bad.problem ?? ''}`;
    },
  };
}

/**
 * Handles `GET /api/usage?by=model&days=30`. Returns the output of `steward usage --json`, as of the usage
 * job's last run.
 */
export function usageRoute(context: Context): Route {
  return route({
    method: 'GET',
    path: '/api/usage',
    input: ({ query }) => ({
      by: oneOf(query, 'by', GROUPINGS) ?? 'day',
      days: daysFrom(wholeNumber(query, 'days') ?? DEFAULT_DAYS),
      machine: machineIn(query),
    }),
    async run({ by, days, machine }): Promise<Usage> {
      const opened = await openUsage(context);
      const notes = [...readProblems(opened.deps.state)];
      const { rows, machines } = await recentRows(context, opened, { days, machine }, notes);
      return withNotes({ ...usageBy(rows, by, opened.prices), ...machines }, notes);
    },
  });
}
