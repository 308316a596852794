import type { Config } from '../config/schema';
import { parseProjects } from '../goals/record';
import { readText } from '../platform/files/atomic-file';
import { expandHome, processHost } from '../platform/files/paths';
import type { Shown } from '../time/shown-day';
import { restrictedWork, type RestrictedWork } from '../sessions/restricted-work';
import { currentSessions, type SessionReadDeps } from '../sessions/state';
import type { Context } from './context';
import { openSessions } from './sessions';

/** Returns the folders of the watched repositories and of the projects in projects.md. */
export function knownRepos({ sense, user }: Config): string[] {
  const projects = parseProjects(readText(user.paths.projects, { followLink: true }) ?? '');
  return [...sense.repos, ...projects.map(({ path }) => expandHome(path, processHost().home))];
}

/** Checks the known repositories. Use the result for one run only, because it caches its checks. */
export function openRestricted({ area }: Pick<Context, 'area'>, config: Config): RestrictedWork {
  return restrictedWork(area, knownRepos(config));
}

/** Returns the rules that hide restricted sessions and repositories. Unknown sessions are shown. */
export function shownWork(context: Pick<Context, 'area'>, config: Config, sessions: SessionReadDeps): Shown {
  const { isListed, markAll, repos } = openRestricted(context, config);
  const known = Object.values(markAll(currentSessions(sessions)).sessions);
  const hidden = known
    .filter(({ restricted }) => restricted === true)
    .flatMap(({ sessionIds }) => sessionIds);
  const keys = new Set(hidden);
  return {
    isShown: (key) => !keys.has(key) && !isListed(key),
    isRestrictedRepo: repos.isRestrictedRepo,
  };
}

/** Returns whether the session with this slug is restricted. A session that can't be read counts as restricted. */
export async function isRestrictedSlug(context: Context, slug: string): Promise<boolean> {
  try {
    const { config } = await context.loadConfig();
    const { sessions } = currentSessions(await openSessions(context));
    const session = Object.hasOwn(sessions, slug) ? sessions[slug] : undefined;
    return session !== undefined && openRestricted(context, config).mark(session).restricted === true;
  } catch {
    return true;
  }
}
