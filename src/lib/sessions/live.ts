import { toStewardError } from '../errors';
import { folder } from './fold';
import type { SessionsState } from './session';
import { currentSessions, readSessions, type SessionsDeps } from './state';
import { readWorkEvents } from './work-events';

type LiveDeps = Pick<SessionsDeps, 'livePath' | 'workEvents' | 'dayOf'>;

/**
 * The live sessions, from the small file and the end of the log; undefined when more than `maxBytes` of it are
 * unread. For what has no time: their history is not in it, nor what their artifacts say since the last turn.
 */
export function liveSessions(deps: LiveDeps, maxBytes: number): SessionsState | undefined {
  const state = readSessions(deps.livePath);
  const { take } = folder(state, deps);
  const cursor = readWorkEvents(deps.workEvents, state.cursor, take, maxBytes);
  return cursor === undefined ? undefined : { ...state, cursor };
}

/** A reader in a hurry reads this much of the log's end at most. */
const MAX_TAIL_BYTES = 512 * 1024;

/**
 * What runs now: from the small state where that can be read and the log has not run far ahead of it, else from all
 * of it.
 */
export function runningSessions(deps: LiveDeps & Pick<SessionsDeps, 'path' | 'sessions'>): SessionsState {
  return livePart(deps) ?? currentSessions(deps);
}

function livePart(deps: LiveDeps): SessionsState | undefined {
  try {
    return liveSessions(deps, MAX_TAIL_BYTES);
  } catch (error) {
    // A newer version's, or no file at all: it is made from the whole state, which says what is wrong if that is, too.
    if (toStewardError(error).kind === 'internal') throw error;
    return undefined;
  }
}
