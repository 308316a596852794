import { basename } from 'node:path';

import { groupInFile, type SharedGroup } from '../platform/files/shared-group';
import { goalLines, parseGoals, parseProjects, withGoalLines, withProject, type Project } from './record';

/** The goals by their ids. Those of a repository or project for which `isClosed` is true are hidden. */
export function sharedGoals(path: string, isClosed: (name: string) => boolean): SharedGroup {
  const goalIn = (lines: readonly string[]) => parseGoals(`# Active Goals\n${lines.join('\n  ')}\n`);
  return {
    ...groupInFile(path, goalLines, withGoalLines),
    isValid: (id, lines) => goalIn(lines).length === 1 && goalIn(lines)[0]?.id === id,
    isHidden: (_id, lines) =>
      goalIn(lines)
        .flatMap(({ repos = [], projects = [] }) => [...repos, ...projects])
        .some((name) => isClosed(basename(name))),
  };
}

/** The folders of projects by their names. Projects for which `isClosed` is true are hidden. */
export function sharedProjects(path: string, isClosed: (project: Project) => boolean): SharedGroup {
  return {
    ...groupInFile(
      path,
      (text) => new Map(parseProjects(text).map((project) => [project.name, [project.path]])),
      (text, name, value) => withProject(text, name, value?.[0] ?? null),
    ),
    isValid: (name, [folder = '']) => parseProjects(withProject('', name, folder))[0]?.path === folder,
    isHidden: (name, [folder = '']) => isClosed({ name, path: folder }),
  };
}
