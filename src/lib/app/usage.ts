import { join } from 'node:path';

import { processHost } from '../platform/files/paths';
import { localTimes } from '../platform/time/day-words';
import { namesOf } from '../sessions/describe';
import { sessionsById } from '../sessions/session';
import { CLAUDE_CODE } from '../sessions/session-key';
import { currentSessions } from '../sessions/state';
import { machineName } from '../sync/name';
import { spendingOf } from '../usage/limits';
import { mergeUsage } from '../usage/machines';
import { pricesWith, readTable } from '../usage/prices';
import { spentBudgets, usageReads, type UsageReadDeps } from '../usage/reads';
import type { Context } from './context';
import { openSessions } from './sessions';
import { openWorkNames } from './work-names';

export async function openUsage(context: Context) {
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
  return { deps, ...usageReads(deps), spending: () => spendingOf(deps) };
}

/** Returns the budgets of which much is spent, and when usage was last read. */
export async function openBudgets(context: Context) {
  return spentBudgets((await openUsage(context)).deps);
}
