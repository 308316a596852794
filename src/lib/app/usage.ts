import { join } from 'node:path';

import type { Limit } from '../assistant/status-input';
import type { DaemonJob } from '../daemon/jobs';
import { machineIn, oneOf, route, wholeNumber, type Route } from '../daemon/route';
import { acceptRequest, wasAccepted } from '../notify/accept';
import { processHost } from '../platform/files/paths';
import { localTimes } from '../platform/time/day-words';
import { namesOf } from '../sessions/describe';
import { sessionsById } from '../sessions/session';
import { CLAUDE_CODE } from '../sessions/session-key';
import { currentSessions } from '../sessions/state';
import { collectUsage, problemsOf, readAt } from '../usage/collect';
import { ALERT_PERCENT, budgetStates } from '../usage/budgets';
import type { LimitWindow } from '../usage/entry';
import { announceLimits, crossedBudgets, currentLimits } from '../usage/limits';
import { mergeUsage } from '../usage/machines';
import { pricesWith, readTable } from '../usage/prices';
import { checkedDays, usageReads, type UsageReadDeps, type UsageReads } from '../usage/reads';
import { GROUPINGS, type Usage } from '../usage/rollup';
import type { Context } from './context';
import type { NotifyContext } from './notify';
import { openSessions } from './sessions';
import { machineName } from './sync-settings';
import { openWorkNames } from './work-names';

export async function openUsage(context: Context): Promise<UsageReads & { deps: UsageReadDeps }> {
  const { area, clock } = context;
  const { user } = (await context.loadConfig()).config;
  const { folder } = user.sync;
  const state = join(area.machine, 'usage');
  const table = readTable(state);
  const deps: UsageReadDeps = {
    clock,
    host: processHost(),
    zone: user.timezone,
    days: area.usage,
    limits: area.limits,
    state,
    enabled: user.usage.enabled,
    table,
    prices: pricesWith(user.usage.prices, table),
    budgets: user.usage.budgets,
    get machineId() {
      return context.machineId;
    },
    async union(period, machine, readOwn, notes) {
      if (folder === undefined && machine === undefined) return { rows: readOwn() };
      const { usageOfMachines } = await import('../sync/machine-usage');
      const own = { id: context.machineId, name: machineName(area) };
      const { openReceived } = await import('../sync/received');
      const note = (text: string): unknown => notes.push(text);
      const localTime = localTimes(clock, user.timezone);
      const { source, noteAway: onOthers } = openReceived(folder, area, localTime, note);
      return usageOfMachines({ own, source, onOthers, machine, ...period }, readOwn, mergeUsage, note);
    },
    async sessions() {
      const sessions = Object.values(currentSessions(await openSessions(context)).sessions);
      const names = namesOf(sessions);
      const { issue } = (await openWorkNames(context))();
      return new Map(
        [...sessionsById(sessions)].map(
          ([session, { slug, repo, branch = null, assistant = CLAUDE_CODE }]) => {
            const [name, number] = [names.get(slug) ?? slug, issue({ repo, branch, session, assistant })];
            return [session, { name, ...(branch && { branch }), ...(number && { issue: number }) }] as const;
          },
        ),
      );
    },
  };
  return { deps, ...usageReads(deps) };
}

/** Returns the budgets of which much is spent, and when usage was last read. */
export async function openBudgets(context: Context) {
  const { deps } = await openUsage(context);
  const crossed = crossedBudgets(deps.state, await budgetStates(deps));
  return { crossed, asOf: { usage: readAt(deps.state) } };
}

/** Returns the limits that are used most, and how much of a budget is spent if that is at least 80%. */
export async function openSpending(context: Context) {
  const { deps } = await openUsage(context);
  const limits = currentLimits(deps, deps.clock.now()).sort((a, b) => b.usedPercent - a.usedPercent);
  const most = (wanted: LimitWindow): Limit | null => {
    const { usedPercent, resetsAt = null } = limits.find(({ window }) => window === wanted) ?? {};
    return usedPercent === undefined ? null : { usedPercent, resetsAt };
  };
  const percents = (await budgetStates(deps)).map(({ percent }) => percent);
  const [budgetPercent = null] = percents.filter((percent) => percent >= ALERT_PERCENT).sort((a, b) => b - a);
  return { limits: { fiveHour: most('fiveHour'), sevenDay: most('sevenDay') }, budgetPercent };
}

const JOB_SEC = 120;
const DEFAULT_DAYS = 7;

/** Returns the job that reads the assistants' logs and notifies you about usage limits. */
export function usageJob(context: Context, notify: Pick<NotifyContext, 'deps'>): DaemonJob {
  return {
    id: 'usage',
    everySec: () => JOB_SEC,
    async run() {
      const { deps } = await openUsage(context);
      if (!deps.enabled) return 'usage.enabled is false';
      const sources = await collectUsage(deps);
      const nowMs = deps.clock.now();
      const localTime = localTimes(deps.clock, deps.zone);
      await announceLimits(
        { ...deps, nowMs, localTime, budgets: await budgetStates(deps) },
        async ({ message, dedupe }) => {
          // After a kill, the text may have changed, and only the same text counts as a duplicate.
          if (wasAccepted(notify.deps, dedupe)) return;
          const about = { event: 'limit', message, dedupe } as const;
          await acceptRequest(notify.deps, { ...about, voiceEnabled: false, source: 'job', tags: [] });
        },
      );
      return problemsOf(sources)[0];
    },
  };
}

/** The response of `GET /api/usage`. */
export interface UsageDocument extends Usage {
  /** The lines about limits and budgets; their texts can name sessions. */
  limits: { text: string }[];
}

/**
 * Handles `GET /api/usage?by=model&days=30`. Returns the output of `steward usage --json` and the limits, as of the
 * usage job's last run.
 */
export function usageRoute(context: Context): Route {
  return route({
    method: 'GET',
    path: '/api/usage',
    input: ({ query }) => ({
      by: oneOf(query, 'by', GROUPINGS) ?? 'day',
      days: checkedDays(wholeNumber(query, 'days') ?? DEFAULT_DAYS),
      machine: machineIn(query),
    }),
    async run(words): Promise<UsageDocument> {
      const usage = await openUsage(context);
      const { limits } = await usage.limits();
      return { ...(await usage.stored(words)), limits: limits.map((text) => ({ text })) };
    },
  });
}
