import { StewardError } from '../../errors';
import { readLines } from '../../platform/files/jsonl';
import type { Resource } from './client';
import { costOf, usageOf, type Prices } from './cost';
import { textOf } from './event';
import { failureOf } from './failure';
import { hasPending, type SendDeps } from './outbox';
import { localSessions } from './retention';
import { pauseMs, repeated } from './retry';
import { pendingOf, sendOrSay } from './send';
import { checkedId } from './session-id';
import { sessionLogPath } from './session-log';
import { resumeStart } from './start';
import type { SessionReport } from './view';
import { wait } from '../../platform/time/wait';

/**
 * Finds the session to go on with (service.md: Managed session): the one named, else a run that was killed before it
 * knew its session, else the one that was used last. One that is over is `conflict`. A message is sent, once.
 */
export async function wakeSession(
  deps: SendDeps,
  named: string | undefined,
  message: string | undefined,
): Promise<{ session: string; isIdle: boolean; sent: string[] }> {
  const id = named ?? (await resumeStart(deps)) ?? localSessions(deps.folder)[0];
  if (id === undefined) {
    throw new StewardError('not_found', 'No hosted session was used here yet.', {
      hint: 'Name one (steward agents managed sessions), or start one: steward agents managed run',
    });
  }
  const session = checkedId(id, 'a session');
  const found = await repeated(deps, () => deps.client.get('sessions', session));
  const status = textOf(found, 'status');
  const archived = typeof found['archived_at'] === 'string';
  if (status === 'terminated' || archived) {
    throw new StewardError(
      'conflict',
      `Session ${session} is ${archived ? 'archived' : status}: it cannot go on.`,
      {
        hint: `steward agents managed stream ${session} --all shows what happened; a new run starts a new session.`,
      },
    );
  }
  const sent = message === undefined ? undefined : (await sendOrSay(deps, session, message)).id;
  return {
    session,
    isIdle: status === 'idle' && message === undefined && !hasPending(deps.folder, session),
    sent: sent === undefined ? [] : [sent],
  };
}

/** What the service and the local log know of a session. */
export async function sessionReport(
  { deps, prices, folder }: { deps: SendDeps; prices: Prices; folder: string },
  id: string,
): Promise<SessionReport> {
  const session = await repeated(deps, () => deps.client.get('sessions', id));
  const stats = usageOf(session['stats'], 0);
  const usage = usageOf(session['usage'], stats.activeSeconds);
  let localEvents = 0;
  readLines(sessionLogPath(folder, id), {}, () => (localEvents += 1));
  const pending = textOf(session, 'status') === 'idle' ? await pendingOf(deps, id) : [];
  return { session, localEvents, unsent: hasPending(folder, id), cost: costOf(usage, prices), pending };
}

/**
 * Archives a session. One that has just become idle may still count as running for a moment: the refusal is
 * believed only when the session says that it is running, or goes on refusing.
 */
export async function archiveSession(deps: SendDeps, id: string): Promise<Resource> {
  for (let tried = 0; ; tried += 1) {
    try {
      return await repeated(deps, () => deps.client.archive('sessions', id));
    } catch (error) {
      if (failureOf(error)?.status !== 400) throw error;
      const session = await repeated(deps, () => deps.client.get('sessions', id));
      if (typeof session['archived_at'] === 'string') return session;
      if (tried + 1 < deps.timing.tries) {
        await wait(pauseMs(deps.timing, tried, undefined), deps.signal);
        continue;
      }
      if (textOf(session, 'status') !== 'running') throw error;
      throw new StewardError('conflict', `Session ${id} is running.`, {
        hint: `steward agents managed interrupt ${id}, then archive it.`,
        cause: error,
      });
    }
  }
}
