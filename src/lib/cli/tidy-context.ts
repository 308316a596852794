import { dirname } from 'node:path';

import { parseProjects } from '../goals/projects';
import { readText } from '../platform/atomic-file';
import { toIso } from '../platform/clock';
import { repositoryOf } from '../platform/git-folder';
import { gitIn } from '../platform/git-process';
import { expandHome, processHost } from '../platform/paths';
import { artifactPath, claimsOf } from '../sessions/artifact';
import { isSlug } from '../sessions/slug';
import { currentSessions } from '../sessions/state';
import { isRestricted } from '../work/restricted';
import type { TidyDeps } from '../work/tidy';
import type { Context } from './context';
import { openSessions } from './sessions-context';
import type { WorkContext } from './work-context';

const GIT_TIMEOUT_MS = 10_000;
const MOST_COMMITS = 100;

/** Joins the tidying with the sessions and with the repositories that steward knows: the watched and the tracked ones. */
export async function tidyDeps(context: Context, work: WorkContext): Promise<TidyDeps> {
  const sessions = await openSessions(context);
  const { config } = await context.loadConfig();
  const tracked = parseProjects(readText(work.user.paths.projects, { followLink: true }) ?? '');
  const known = [...config.sense.repos, ...tracked.map(({ path }) => expandHome(path, processHost().home))];
  const { sessions: bySlug } = currentSessions(sessions);
  const more: Pick<TidyDeps, 'sessionOf' | 'claimsOf' | 'commitsIn'> = {
    sessionOf: (slug) => (Object.hasOwn(bySlug, slug) ? bySlug[slug] : undefined),
    claimsOf(slug) {
      if (!isSlug(slug) || isRestricted(dirname(artifactPath(sessions.sessions, slug)))) return undefined;
      return claimsOf(sessions.sessions, slug);
    },
    async commitsIn(name, from, to) {
      const root = known.map((path) => repositoryOf(path)).find((found) => found?.name === name)?.root;
      if (root === undefined) return [];
      const git = gitIn({ run: context.run, timeoutMs: () => GIT_TIMEOUT_MS }, root);
      const range = [`--since=${toIso(from)}`, `--until=${toIso(to)}`, `--max-count=${MOST_COMMITS}`];
      const said = await git(['log', '--branches', '--no-merges', ...range, '--format=%h %s']);
      return said.split('\n').filter((line) => line !== '');
    },
  };
  return Object.defineProperties({} as TidyDeps, {
    ...Object.getOwnPropertyDescriptors(work.deps),
    ...Object.getOwnPropertyDescriptors(more),
  });
}
