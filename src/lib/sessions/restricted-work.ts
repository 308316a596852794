import { checkedRepos, checkRepos, type RepoCheck } from './restricted-repos';
import { readRestricted, restrictedList } from './restricted';
import type { Session, SessionsState } from './session';
import { type SessionReadDeps, currentSessions } from './state';

/** Decides which sessions and repositories stay on this machine. */
export interface RestrictedWork {
  repos: RepoCheck;
  /** Returns whether the session with this key has been recorded as restricted, even if its data is deleted. */
  isListed: (key: string) => boolean;
  /** Sets `restricted` if the session is listed, or if its repository has become restricted. */
  mark: (session: Session) => Session;
  markAll: (state: SessionsState) => SessionsState;
}

/** @param watched The folders of the known repositories. */
export function restrictedWork(
  area: { state: string; sessionsState: string },
  watched: readonly string[],
): RestrictedWork {
  const repos = checkRepos(checkedRepos(area.state), watched);
  const isListed = readRestricted(restrictedList(area.sessionsState));
  const mark = (session: Session): Session => {
    const { repo, sessionIds } = session;
    const isRestricted = sessionIds.some(isListed) || (repo !== null && repos.isRestrictedRepo(repo));
    return isRestricted ? { ...session, restricted: true } : session;
  };
  const markAll = (state: SessionsState): SessionsState => ({
    ...state,
    sessions: Object.fromEntries(
      Object.entries(state.sessions).map(([slug, session]) => [slug, mark(session)]),
    ),
  });
  return { repos, isListed, mark, markAll };
}

/** Returns whether a session has worked in a restricted folder. Faster than `restrictedWork`, for hooks. */
export function isRestrictedSession(deps: SessionReadDeps, key: string): boolean {
  if (readRestricted(restrictedList(deps.path))(key)) return true;
  return Object.values(currentSessions(deps).sessions).some(
    ({ restricted, sessionIds }) => restricted === true && sessionIds.includes(key),
  );
}
