import { join } from 'node:path';

import type { WorkConfig } from '../config/schema';
import type { Goal, Project } from '../goals/record';
import { exists } from '../platform/files/folder';
import { gitIn } from '../platform/process/git';
import type { Run } from '../platform/process/process';
import { parseIso } from '../platform/time/clock';
import { planSession, type CapturedSession, type SessionRules } from './capture/session';
import type { Wanted } from './ensure';
import { identityKey, type Issue } from './issue';
import { isStale, propertyOfProject, statusOf } from './label';
import { codeSpan } from './markdown';
import { redacted } from './redact';

const DAY_MS = 86_400_000;
const STALE_MS = 7 * DAY_MS;
const PROJECT_DAYS = 14;
const GIT_TIMEOUT_MS = 10_000;

/** An issue to be made of a session. */
export interface Missed extends Wanted {
  /** The name of its folder: its number is written back there. */
  folder: string;
}

/** Sessions that the hook has missed, the oldest first; empty scaffolds are none. */
export function missedSessions(sessions: readonly CapturedSession[], rules: SessionRules): Missed[] {
  return sessions.flatMap((session) => {
    if (session.artifact.github_issue !== null || session.artifact.task === null) return [];
    const { wanted } = planSession(session, rules, 'sweep');
    return wanted === null ? [] : [{ ...wanted, folder: session.slug }];
  });
}

/** When a person, or another program, last touched each issue that steward flagged: number → its date after our own write. */
export type Flagged = Readonly<Record<string, string>>;

export interface StalePlan {
  flag: Issue[];
  /** Flagged by a sweep, and touched since or no longer in progress. */
  unflag: Issue[];
}

/** In-progress issues that nobody touched for seven days. Our own flag is no touch; one set by hand stays. */
export function stalePlan(issues: readonly Issue[], flagged: Flagged, nowMs: number): StalePlan {
  const open = issues.filter(({ state }) => state === 'open');
  const inProgress = (issue: Issue): boolean => statusOf(issue.labels) === 'in-progress';
  const isOld = ({ updatedAt }: Issue): boolean => nowMs - (parseIso(updatedAt) ?? nowMs) > STALE_MS;
  return {
    flag: open.filter((issue) => inProgress(issue) && !isStale(issue.labels) && isOld(issue)),
    unflag: open.filter((issue) => {
      const since = parseIso(flagged[String(issue.number)] ?? '');
      if (since === undefined || !isStale(issue.labels)) return false;
      return !inProgress(issue) || (parseIso(issue.updatedAt) ?? 0) > since;
    }),
  };
}

/** A project and when it had its last commit; undefined: it has none, or that cannot be told. */
export interface ProjectState extends Project {
  lastCommitMs: number | undefined;
}

/** The last commit of each project, of all branches. */
export async function projectStates(run: Run, projects: readonly Project[]): Promise<ProjectState[]> {
  const states: ProjectState[] = [];
  for (const project of projects) {
    let said = '';
    if (exists(join(project.path, '.git'))) {
      const git = gitIn({ run, timeoutMs: () => GIT_TIMEOUT_MS }, project.path);
      said = (await git(['log', '--branches', '-1', '--format=%ct'])).trim();
    }
    states.push({ ...project, lastCommitMs: /^\d+$/.test(said) ? Number(said) * 1000 : undefined });
  }
  return states;
}

/** Tracked projects without a commit in 14 days and without an open issue of theirs. */
export function projectChecks(
  projects: readonly ProjectState[],
  issues: readonly Issue[],
  options: { nowMs: number; map: WorkConfig['PROJECT_PROPERTY'] },
): Wanted[] {
  return projects.flatMap(({ name, lastCommitMs = Infinity }) => {
    const days = Math.floor((options.nowMs - lastCommitMs) / DAY_MS);
    const property = propertyOfProject(name, options.map);
    const label = `property:${property ?? ''}`;
    const isOpen = issues.some(
      ({ state, labels }) => state === 'open' && labels.some((one) => one.toLowerCase() === label),
    );
    const identity = { kind: 'project', value: name } as const;
    if (days < PROJECT_DAYS || isOpen || !isWanted(issues, identityKey(identity))) return [];
    return [
      {
        identity,
        kind: 'project-check',
        text: `${redacted(name)} \u2014 no commit in ${days} days`,
        body: 'Is it still to be worked on? Close this as not planned, and it is not asked again.',
        labels: [
          ...['auto-sweep', 'Type:project', 'Status:needs-triage'],
          ...(property === null ? [] : [`Property:${property}`]),
        ],
        openOnly: true,
      },
    ];
  });
}

/** Active goals with an id such as G1 and without an open issue. */
export function goalIssues(goals: readonly Goal[], issues: readonly Issue[]): Wanted[] {
  return goals.flatMap(({ id, text }) => {
    const identity = { kind: 'goal', value: id } as const;
    if (!/^G\d/i.test(id) || text === '' || !isWanted(issues, identityKey(identity))) return [];
    return [
      {
        identity,
        kind: 'goal',
        text: redacted(text),
        body: `Goal ${id}: ${codeSpan(redacted(text))}`,
        labels: ['auto-sweep', 'Type:project', 'Status:needs-triage'],
        openOnly: true,
      },
    ];
  });
}

/** None is open, and a person has not closed it as not planned. */
function isWanted(issues: readonly Issue[], key: string): boolean {
  return !issues.some(
    ({ identity, state, stateReason }) =>
      identity === key && (state === 'open' || stateReason === 'not_planned'),
  );
}

/** Open issues of one identity: the lowest number stays, the others are to be closed with a pointer to it. */
export function duplicates(issues: readonly Issue[]): { keep: Issue; close: Issue[] }[] {
  const groups = new Map<string, Issue[]>();
  for (const issue of issues) {
    if (issue.state !== 'open' || issue.identity === null) continue;
    groups.set(issue.identity, [...(groups.get(issue.identity) ?? []), issue]);
  }
  return [...groups.values()].flatMap((group) => {
    const [keep, ...close] = group.sort((a, b) => a.number - b.number);
    return keep === undefined || close.length === 0 ? [] : [{ keep, close }];
  });
}
