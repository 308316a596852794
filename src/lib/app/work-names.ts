import { basename } from 'node:path';

import { goalMatcher } from '../goals/match';
import { parseGoals, parseProjects, type Goal, type Project } from '../goals/record';
import { readText } from '../platform/files/atomic-file';
import { issueOfBranch, type Work, type WorkNames } from '../time/ledger/rows';
import type { Session } from '../sessions/session';
import { currentSessions } from '../sessions/state';
import { itemsOf, type Item } from '../work/board';
import type { Context } from './context';
import { openSessions } from './sessions';
import { openWork } from './work';

/** Returns a function that reads the names of sessions, issues and goals, from local files only. */
export async function openWorkNames(context: Context): Promise<() => WorkNames> {
  const { config } = await context.loadConfig();
  const sessions = await openSessions(context);
  const { deps } = await openWork(context);
  const read = (path: string): string => readText(path, { followLink: true }) ?? '';
  return () =>
    namesOf({
      sessions: Object.values(currentSessions(sessions).sessions),
      items: itemsOf(deps, deps.workRepo()),
      projects: parseProjects(read(config.user.paths.projects)),
      goals: parseGoals(read(config.user.paths.goals)),
    });
}

interface Known {
  sessions: readonly Session[];
  items: readonly Item[];
  projects: readonly Project[];
  goals: readonly Goal[];
}

function namesOf({ sessions, items, projects, goals }: Known): WorkNames {
  const byId = new Map(sessions.flatMap((session) => session.sessionIds.map((id) => [id, session] as const)));
  const issues = new Map(items.map((item) => [item.number, item]));
  const match = goalMatcher(goals);
  const sessionOf = ({ session }: Work): Session | undefined => byId.get(session ?? '');
  const nameOf = (id: string): string => byId.get(id)?.givenName ?? byId.get(id)?.slug ?? id;
  const issue = (work: Work): number | undefined => {
    const session = sessionOf(work);
    const names = work.session === null ? [] : [session?.slug ?? '', nameOf(work.session)];
    return session?.github_issue ?? issueOfBranch(work.branch) ?? claimOf(items, names);
  };
  return {
    session: nameOf,
    issue,
    goal(work) {
      const project = projects.find(({ path }) => basename(path) === work.repo)?.name;
      return match({
        repo: work.repo,
        project: sessionOf(work)?.project ?? project ?? null,
        labels: issues.get(issue(work) ?? 0)?.labels ?? [],
      });
    },
  };
}

/**
 * Returns the number of the issue captured from a session, or of an open issue claimed under the session's
 * name.
 */
function claimOf(items: readonly Item[], names: readonly string[]): number | undefined {
  const isOwn = ({ slug, agents, state }: Item): boolean =>
    [slug, ...(state === 'open' ? agents : [])].some(
      (name) => name !== null && name !== '' && names.includes(name),
    );
  return items.find(isOwn)?.number;
}
