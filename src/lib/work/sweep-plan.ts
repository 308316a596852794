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
import { hasLabel, isStale, propertyOfProject, statusOf } from './label';
import { codeSpan, redact } from './outgoing';

const DAY_MS = 86_400_000;
const STALE_MS = 7 * DAY_MS;
const PROJECT_DAYS = 14;
const GIT_TIMEOUT_MS = 10_000;

/** An issue to create for a session. */
export interface Missed extends Wanted {
  /** The name of the session's folder. */
  folder: string;
}

/** Returns the issues to create for sessions without an issue. Skips sessions without a task. */
export function missedSessions(sessions: readonly CapturedSession[], rules: SessionRules): Missed[] {
  return sessions.flatMap((session) => {
    if (session.artifact.github_issue !== null || session.artifact.task === null) return [];
    const { wanted } = planSession(session, rules, 'sweep');
    return wanted === null ? [] : [{ ...wanted, folder: session.slug }];
  });
}

/**
 * Maps the number of each flagged issue to the issue's `updatedAt` at the time of flagging. A later
 * `updatedAt` means new activity.
 */
export type Flagged = Readonly<Record<string, string>>;

export type StalePlan = ReturnType<typeof stalePlan>;

/**
 * Plans stale labels for in-progress issues with no activity for seven days. Never removes a stale label that
 * a person added.
 */
export function stalePlan(issues: readonly Issue[], flagged: Flagged, nowMs: number) {
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

export interface ProjectState extends Project {
  /** `undefined` if there are no commits or the time is unknown. */
  lastCommitMs: number | undefined;
}

/** Returns each project with the time of its last commit on any branch. */
export async function projectStates(run: Run, projects: readonly Project[]): Promise<ProjectState[]> {
  const states: ProjectState[] = [];
  for (const project of projects) {
    let seconds = '';
    if (exists(join(project.path, '.git'))) {
      const git = gitIn({ run, timeoutMs: () => GIT_TIMEOUT_MS }, project.path);
      seconds = (await git(['log', '--branches', '-1', '--format=%ct'])).trim();
    }
    states.push({ ...project, lastCommitMs: /^\d+$/.test(seconds) ? Number(seconds) * 1000 : undefined });
  }
  return states;
}

/**
 * Returns a check-in issue for each project that has neither an open issue nor a commit in the last 14 days.
 */
export function projectChecks(
  projects: readonly ProjectState[],
  issues: readonly Issue[],
  options: { nowMs: number; map: WorkConfig['PROJECT_PROPERTY'] },
): Wanted[] {
  return projects.flatMap(({ name, lastCommitMs = Infinity }) => {
    const days = Math.floor((options.nowMs - lastCommitMs) / DAY_MS);
    const property = propertyOfProject(name, options.map);
    const label = `Property:${property ?? ''}`;
    const hasOpenIssue = issues.some(({ state, labels }) => state === 'open' && hasLabel(labels, label));
    const identity = { kind: 'project', value: name } as const;
    if (days < PROJECT_DAYS || hasOpenIssue || !isNeeded(issues, identityKey(identity))) return [];
    return [
      {
        identity,
        kind: 'project-check',
        text: `${redact(name)} \u2014 no commits in ${days} days`,
        body: 'Is this project still active? If not, close this issue as not planned; steward will not ask again.',
        labels: [
          ...['auto-sweep', 'Type:project', 'Status:needs-triage'],
          ...(property === null ? [] : [label]),
        ],
        openOnly: true,
      },
    ];
  });
}

/** Returns an issue for each active goal that has an id such as G1 but no open issue. */
export function goalIssues(goals: readonly Goal[], issues: readonly Issue[]): Wanted[] {
  return goals.flatMap(({ id, text }) => {
    const identity = { kind: 'goal', value: id } as const;
    if (!/^G\d/i.test(id) || text === '' || !isNeeded(issues, identityKey(identity))) return [];
    return [
      {
        identity,
        kind: 'goal',
        text: redact(text),
        body: `Goal ${id}: ${codeSpan(redact(text))}`,
        labels: ['auto-sweep', 'Type:project', 'Status:needs-triage'],
        openOnly: true,
      },
    ];
  });
}

/** Returns true unless an issue with this identity is open or was closed as not planned. */
function isNeeded(issues: readonly Issue[], key: string): boolean {
  return !issues.some(
    ({ identity, state, stateReason }) =>
      identity === key && (state === 'open' || stateReason === 'not_planned'),
  );
}

/**
 * Groups open issues with the same identity. The sweep closes all but the lowest-numbered issue of a group.
 */
export function duplicates(issues: readonly Issue[]): { original: Issue; copies: Issue[] }[] {
  const groups = new Map<string, Issue[]>();
  for (const issue of issues) {
    if (issue.state !== 'open' || issue.identity === null) continue;
    groups.set(issue.identity, [...(groups.get(issue.identity) ?? []), issue]);
  }
  return [...groups.values()].flatMap((group) => {
    const [original, ...copies] = group.sort((a, b) => a.number - b.number);
    return original === undefined || copies.length === 0 ? [] : [{ original, copies }];
  });
}
