import { processHost } from '../platform/files/paths';
import { goToSession, type Went } from '../sessions/go';
import { currentSessions } from '../sessions/state';
import type { Context } from './context';
import { openSessions } from './sessions';

/** `go`: joins the sessions with the terminals of this machine. */
export async function goNow(context: Context, wanted: string | undefined): Promise<Went> {
  const deps = await openSessions(context);
  const { run, machineId } = context;
  const { env } = processHost();
  return goToSession({ run, env, machineId, nowMs: deps.clock.now() }, currentSessions(deps), wanted);
}
