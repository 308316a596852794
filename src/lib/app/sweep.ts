import { sendReminders } from '../daemon/reminders';
import { toStewardError } from '../errors';
import { readGoals, readProjects } from '../goals/record';
import { isRestricted } from '../sessions/restricted';
import { isLive, type SessionsState } from '../sessions/session';
import { currentSessions } from '../sessions/state';
import { restrictUnseen } from '../sessions/unseen-artifact';
import { turnsOf } from '../sync/turn';
import { drainCaptures } from '../work/capture/deliver';
import { sessionsAmong } from '../work/capture/session';
import { waitingCaptures } from '../work/capture/waiting';
import { sweep, type SweepDeps, type SweepOptions } from '../work/sweep';
import { failedSweep, logSweep, type Swept } from '../work/sweep-log';
import { projectStates } from '../work/sweep-plan';
import { regenerateTaskList } from '../work/task-list';
import { captureDeps } from './capture';
import type { Context } from './context';
import { openSessions } from './sessions';
import { openTurns } from './sync-turns';
import { openWork, type WorkContext } from './work';

/** Runs the sweep, and logs one line even if it fails. */
export async function runSweep(context: Context, options: SweepOptions): Promise<Swept> {
  try {
    const work = await openWork(context, 60_000);
    return logSweep(context, await sweep(await sweepDeps(context, work), options));
  } catch (error) {
    const trouble = toStewardError(error);
    if (trouble.kind === 'canceled') throw error;
    return logSweep(context, failedSweep(context.clock, options, trouble));
  }
}

async function sweepDeps(context: Context, work: WorkContext): Promise<SweepDeps> {
  const { area, clock } = context;
  const sessions = await openSessions(context);
  let seen: SessionsState | undefined;
  const captures = await captureDeps(context, work, () => seen);
  return {
    ...captures,
    captures: async (dryRun, onCreated) => {
      if (!dryRun) await drainCaptures(captures, onCreated);
      return waitingCaptures(area);
    },
    // Skips live sessions. The session-end hook captures them, because it knows their folders.
    sessionsSince: (since) => {
      seen = currentSessions(sessions);
      restrictUnseen(area, seen.sessions, since);
      const nowMs = clock.now();
      const live = Object.values(seen.sessions).filter((session) => isLive(session, nowMs));
      return sessionsAmong(area.sessions, { since, live: new Set(live.map(({ slug }) => slug)) });
    },
    goals: () => readGoals(area.goals),
    projects: () =>
      projectStates(
        context.run,
        readProjects(area.projects).filter(({ path }) => !isRestricted(path)),
      ),
    remind: async () => {
      const { openNotify } = await import('./notify');
      const notify = await openNotify(context);
      const sent = await sendReminders(work.deps, notify.deps, turnsOf(await openTurns(context)));
      if (sent > 0) notify.deliverLater();
      return sent;
    },
    regenerate: async () => {
      const { result, trouble } = await regenerateTaskList(work.deps, { push: true });
      if (trouble !== undefined) throw trouble;
      return result.reason;
    },
  };
}
