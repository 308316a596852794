import { basename } from 'node:path';

import { goalMatcher } from '../goals/match';
import { parseGoals, parseProjects } from '../goals/record';
import { readText } from '../platform/files/atomic-file';
import { issueOfBranch, type Work, type WorkNames } from '../sense/ledger/rows';
import { currentSessions } from '../sessions/state';
import { itemsOf, type Item } from '../work/board';
import type { Context } from './context';
import { openSessions } from './sessions';
import { openWork } from './work';

/** Returns what sessions, issues and goals are called, from local files alone. */
export async function openWorkNames(context: Context): Promise<WorkNames> {
  const { config } = await context.loadConfig();
  const { paths } = config.user;
  const read = (path: string): string => readText(path, { followLink: true }) ?? '';
  const sessions = new Map(
    Object.values(currentSessions(await openSessions(context)).sessions).flatMap((session) =>
      session.sessionIds.map((id) => [id, session] as const),
    ),
  );
  const work = await openWork(context);
  const issues = new Map(itemsOf(work.deps, work.deps.workRepo()).map((item) => [item.number, item]));
  const projects = parseProjects(read(paths.projects));
  const match = goalMatcher(parseGoals(read(paths.goals)));
  const sessionOf = ({ session }: Work) => sessions.get(session ?? '');
  const nameOf = (id: string): string => sessions.get(id)?.givenName ?? sessions.get(id)?.slug ?? id;
  const issue = (part: Work): number | undefined => {
    const session = sessionOf(part);
    const claimed =
      part.session === null ? undefined : claimOf(issues, [session?.slug ?? '', nameOf(part.session)]);
    return session?.github_issue ?? issueOfBranch(part.branch) ?? claimed;
  };
  return {
    session: nameOf,
    issue,
    goal: (part) =>
      match({
        repo: part.repo,
        project:
          sessionOf(part)?.project ?? projects.find(({ path }) => basename(path) === part.repo)?.name ?? null,
        labels: issues.get(issue(part) ?? 0)?.labels ?? [],
      }),
  };
}

/** Returns the open issue of a session: captured from it, or claimed under its name. */
function claimOf(issues: ReadonlyMap<number, Item>, names: readonly string[]): number | undefined {
  const isOwn = ({ slug, agents, state }: Item): boolean =>
    [slug, ...(state === 'open' ? agents : [])].some(
      (name) => name !== null && name !== '' && names.includes(name),
    );
  return [...issues.values()].find(isOwn)?.number;
}
