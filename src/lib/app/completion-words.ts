import { isLive } from '../sessions/session';
import { rowsOf } from '../sessions/rows';
import { runningSessions } from '../sessions/state';
import type { OfferedWord, WordKind } from '../shell/completion';
import { typeOf } from '../work/label';
import type { Context } from './context';
import { openSessions } from './sessions';
import { openWork } from './work';

/** Returns the running sessions or open issues that completion offers. Reads local files only. */
export async function completionWords(context: Context, kind: WordKind): Promise<OfferedWord[]> {
  if (kind === 'sessions') return sessionWords(context);
  const { deps } = await openWork(context);
  const { repo } = deps.workRepo();
  const issues = repo === undefined ? [] : deps.cache(repo).issues;
  return issues
    .filter(({ state, labels }) => state === 'open' && (kind === 'issues' || typeOf(labels) === 'reminder'))
    .map(({ number, title }) => ({ word: String(number), about: title }));
}

async function sessionWords(context: Context): Promise<OfferedWord[]> {
  const deps = await openSessions(context);
  const nowMs = deps.clock.now();
  const live = Object.values(runningSessions(deps).sessions).filter((session) => isLive(session, nowMs));
  return rowsOf(live, { nowMs }).map(({ name, slug, waitingFor, activity, status }) => ({
    word: SAFE_NAME.test(name) ? name : slug,
    about: waitingFor ?? activity ?? status,
  }));
}

/** Names without characters that separate words in bash, even when they are quoted. */
const SAFE_NAME = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._·/()+-]{0,79}$/u;
