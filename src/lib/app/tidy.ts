import { dirname } from 'node:path';

import { parseProjects } from '../goals/record';
import { readText } from '../platform/files/atomic-file';
import { toIso } from '../platform/time/clock';
import { listFolder } from '../platform/files/folder';
import { repositoryOf } from '../platform/files/git-folder';
import { gitIn } from '../platform/process/git-process';
import { expandHome, processHost } from '../platform/files/paths';
import { artifactOf, artifactPath, claimsOf } from '../sessions/artifact';
import { isSlug } from '../sessions/slug';
import { currentSessions } from '../sessions/state';
import { isRestricted } from '../work/redact';
import type { TidyDeps } from '../work/tidy';
import type { Context } from './context';
import { openSessions } from './sessions';
import type { WorkContext } from './work';

const GIT_TIMEOUT_MS = 10_000;
const MOST_COMMITS = 100;

/** Joins the tidying with the sessions and with the repositories that steward knows: the watched and the tracked ones. */
export async function tidyDeps(context: Context, work: WorkContext): Promise<TidyDeps> {
  const sessions = await openSessions(context);
  const { config } = await context.loadConfig();
  const tracked = parseProjects(readText(work.user.paths.projects, { followLink: true }) ?? '');
  const known = [...config.sense.repos, ...tracked.map(({ path }) => expandHome(path, processHost().home))];
  const { sessions: bySlug } = currentSessions(sessions);
  const folders = foldersBySlug(sessions.sessions);
  const more: Pick<TidyDeps, 'sessionsOf' | 'claimsOf' | 'commitsIn'> = {
    sessionsOf: (slug) =>
      folders(slug).flatMap((name) => (Object.hasOwn(bySlug, name) ? (bySlug[name] ?? []) : [])),
    claimsOf: (slug) =>
      folders(slug)
        .filter((name) => !isRestricted(dirname(artifactPath(sessions.sessions, name))))
        .flatMap((name) => claimsOf(sessions.sessions, name) ?? []),
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

/**
 * The names of the folders that an issue's slug stands for, as the capture knows them: of each artifact that names the
 * slug, and the one of that name whose artifact names none, or is gone. Read at the first question.
 */
function foldersBySlug(sessions: string): (slug: string) => readonly string[] {
  let known: Map<string, string[]> | undefined;
  const read = (): Map<string, string[]> => {
    const found = new Map<string, string[]>();
    for (const name of listFolder(sessions).sort()) {
      if (!isSlug(name)) continue;
      const slug = artifactOf(sessions, name)?.slug ?? name;
      found.set(slug, [...(found.get(slug) ?? []), name]);
    }
    return found;
  };
  return (slug) => (known ??= read()).get(slug) ?? [slug].filter(isSlug);
}
