import { basename } from 'node:path';

import { goalMatcher } from '../../goals/match';
import type { Goal, Project } from '../../goals/record';
import { sessionsById, type Session } from '../../sessions/session';
import { domainsOf, siteOf } from '../site';
import type { Work, WorkNames } from './rows';

/** An issue of the work repository. */
interface KnownIssue {
  number: number;
  slug: string | null;
  state: string;
  labels: readonly string[];
  /** The agents that claimed the issue. */
  agents: readonly string[];
}

interface Known {
  sessions: readonly Session[];
  items: readonly KnownIssue[];
  projects: readonly Project[];
  goals: readonly Goal[];
}

/** Returns functions that name the session, issue and goal of work. */
export function workNames({ sessions, items, projects, goals }: Known): WorkNames {
  const byId = sessionsById(sessions);
  const issues = new Map(items.map((item) => [item.number, item]));
  const match = goalMatcher(goals);
  const sessionOf = ({ session }: Work): Session | undefined => byId.get(session ?? '');
  const nameOf = (id: string): string => byId.get(id)?.givenName ?? byId.get(id)?.slug ?? id;
  const issueOf = (work: Work): { number: number | undefined; repo: string | null } => {
    const session = sessionOf(work);
    const names = work.session === null ? [] : [session?.slug ?? '', nameOf(work.session)];
    const own = session?.github_issue ?? undefined;
    const byBranch = own === undefined ? issueOfBranch(work.branch) : undefined;
    if (byBranch !== undefined) return { number: byBranch, repo: work.repo };
    return { number: own ?? claimOf(items, names), repo: null };
  };
  return {
    session: nameOf,
    issue(work) {
      const { number, repo } = issueOf(work);
      return number === undefined ? undefined : `${repo ?? ''}#${number}`;
    },
    goal(work) {
      const project = projects.find(({ path }) => basename(path) === work.repo)?.name;
      return match({
        repo: work.repo,
        project: sessionOf(work)?.project ?? project ?? null,
        labels: issues.get(issueOf(work).number ?? 0)?.labels ?? [],
        sites: domainsOf(siteOf(work.app ?? '') ?? ''),
      });
    },
  };
}

/**
 * Returns the number of the issue captured from a session, or of an open issue claimed under the session's
 * name.
 */
function claimOf(items: readonly KnownIssue[], names: readonly string[]): number | undefined {
  const isOwn = ({ slug, agents, state }: KnownIssue): boolean =>
    [slug, ...(state === 'open' ? agents : [])].some(
      (name) => name !== null && name !== '' && names.includes(name),
    );
  return items.find(isOwn)?.number;
}

/**
 * Matches the issue number in a branch name such as `12-login` or `fix/issue-12-login`. Doesn't match dates.
 */
const BRANCH_ISSUE = /(?:^|\/)(?:issue-([1-9]\d{0,6})(?!\d)|([1-9]\d{0,6})-(?!\d))/i;

export function issueOfBranch(branch: string | null): number | undefined {
  const match = BRANCH_ISSUE.exec(branch ?? '');
  return match === null ? undefined : Number(match[1] ?? match[2]);
}
