import type { Config } from '../config/schema';
import { parseProjects } from '../goals/record';
import { readText } from '../platform/files/atomic-file';
import { expandHome, processHost } from '../platform/files/paths';
import { restrictedWork, type RestrictedWork } from '../sessions/restricted-work';
import type { Context } from './context';

/** Returns the folders of the watched repositories and of the projects in projects.md. */
export function knownRepos({ sense, user }: Config): string[] {
  const projects = parseProjects(readText(user.paths.projects, { followLink: true }) ?? '');
  return [...sense.repos, ...projects.map(({ path }) => expandHome(path, processHost().home))];
}

/** Checks the known repositories. Use the result for one run only, because it caches its checks. */
export function openRestricted({ area }: Pick<Context, 'area'>, config: Config): RestrictedWork {
  return restrictedWork(area, knownRepos(config));
}
