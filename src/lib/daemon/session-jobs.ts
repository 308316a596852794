import { silenceCheck, type SilenceAlert } from '../agents/watchdog';
import type { Machine } from '../config/user-area';
import { StewardError } from '../errors';
import { marksOf } from '../platform/files/stat';
import { runningSessions, type SessionsDeps } from '../sessions/state';
import { hasTurn, withTurnSigns, type SeenLogs } from '../sessions/turn-signs';
import { periodicJob, type DaemonJob } from './jobs';

const TURN_SIGNS_SEC = 1;

/** The job that follows the assistants' logs of running sessions. */
export function turnSignsJob({ area }: Machine, openSessions: () => Promise<SessionsDeps>): DaemonJob {
  const seen: SeenLogs = new Map();
  let quiet: string | undefined;
  return periodicJob('turns', 'hooks', TURN_SIGNS_SEC, async () => {
    const { text } = marksOf([area.sessionsState, area.workEvents]);
    // Only a hook starts a turn.
    if (text === quiet) return;
    const deps = await openSessions();
    const { sessions } = withTurnSigns(deps, () => runningSessions(deps), seen);
    quiet = Object.values(sessions).some((session) => hasTurn(deps, session)) ? undefined : text;
  });
}

const SILENCE_CHECK_SEC = 5;

/** The job that reports agents that have been silent for long. `report` returns why that failed. */
export function silenceJob(
  openSessions: () => Promise<SessionsDeps>,
  report: (silence: SilenceAlert) => Promise<string | undefined>,
): DaemonJob {
  let check: ReturnType<typeof silenceCheck> | undefined;
  const alert = async (silence: SilenceAlert) => {
    const problem = await report(silence);
    if (problem === undefined) return;
    throw new StewardError('unavailable', problem, { hint: 'See `steward daemon logs`.' });
  };
  return periodicJob('agents', 'notify', SILENCE_CHECK_SEC, async () => {
    check ??= silenceCheck(await openSessions(), { alert });
    await check();
  });
}
