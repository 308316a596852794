import { join } from 'node:path';

import { processHost } from '../platform/files/paths';
import { withTempFolder } from '../platform/files/system-files';
import type { BuildDeps } from '../sense/insight';
import { type InsightReadDeps, insightStore } from '../sense/insight-reads';
import { currentSessions } from '../sessions/state';
import type { Context } from './context';
import { openSense } from './sense';
import { openSessions } from './sessions';

/** Joins the content-type read with sense, the sessions' names and the machine. */
export async function openInsight(context: Context): Promise<{ deps: BuildDeps & InsightReadDeps }> {
  const { config } = await context.loadConfig();
  const { deps: sense, locked } = await openSense(context);
  const { area, clock } = context;
  const sessions = await openSessions(context);
  const deps: BuildDeps & InsightReadDeps = {
    clock,
    store: sense.store,
    insights: insightStore(area.sense.insights),
    config: config.sense,
    timezone: sense.timezone,
    sessionSlugs: () =>
      new Map(
        Object.values(currentSessions(sessions).sessions).flatMap(({ slug, sessionIds }) =>
          sessionIds.map((id) => [id, slug] as const),
        ),
      ),
    run: context.run,
    env: processHost().env,
    inEmptyFolder: withTempFolder,
    alone: async (work) => {
      const { withLock } = await import('../platform/files/lock');
      // Not the lock of sense: captures go on while the assistant thinks.
      const lock = join(area.machine, 'insight.lock');
      return withLock(lock, { clock, machineId: context.machineId, waitMs: 0 }, work);
    },
    locked,
  };
  return { deps };
}
