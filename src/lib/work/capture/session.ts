import { dirname } from 'node:path';

import { listFolder, lstatOf } from '../../platform/files/folder';
import { entriesIn, stampOf } from '../../platform/files/stat';
import { parseIso } from '../../platform/time/clock';
import { ARTIFACT_NAME, artifactOf, artifactPath, type Artifact } from '../../sessions/artifact';
import { phaseNamed, type PhaseId } from '../../sessions/phases';
import { isRestrictedWork } from '../../sessions/unseen-artifact';
import type { SessionsState } from '../../sessions/session';
import { isSlug } from '../../sessions/slug';
import type { WorkDeps } from '../deps';
import type { Wanted } from '../ensure';
import { agentLabel, agentName, propertyOfProject, type Priority, type Status } from '../label';
import { codeSpan } from '../markdown';
import { isRestricted, markRestricted, redacted } from '../redact';

/** A session as capture looks at it. */
export interface CapturedSession {
  /** The name of its folder. */
  slug: string;
  artifact: Artifact;
  /** Are there files beside the artifact? */
  hasOthers: () => boolean;
  /** Does its work stay on the machine, by a mark of its folder? */
  isRestricted: () => boolean;
}

export interface SessionRules {
  work: WorkDeps;
  /** The folder of the artifacts. */
  sessions: string;
  /** What the hooks saw of the sessions. */
  state: () => SessionsState;
  /** Is a session marked that is found to be restricted, so that it stays so when the state forgets it? */
  marks: boolean;
}

/** The session as its folder shows it; undefined without an artifact. */
export function sessionAt(sessions: string, slug: string): CapturedSession | undefined {
  const artifact = artifactOf(sessions, slug);
  return artifact === undefined ? undefined : sessionWith(sessions, slug, artifact);
}

/** @param known as of `isRestricted`, for many sessions of one moment */
function sessionWith(
  sessions: string,
  slug: string,
  artifact: Artifact,
  known?: Map<string, boolean>,
): CapturedSession {
  const folder = dirname(artifactPath(sessions, slug));
  // Most of a thousand sessions have their issue, and nobody asks these of them.
  return {
    slug,
    artifact,
    hasOthers: () =>
      listFolder(folder).some(
        (name) =>
          name !== ARTIFACT_NAME &&
          !name.startsWith('.') &&
          !name.endsWith('.tmp') &&
          (stampOf(`${folder}/${name}`)?.kind ?? 'other') !== 'other',
      ),
    isRestricted: () => isRestricted(folder, known),
  };
}

/** The sessions whose artifact was written at or after a time, ms, the oldest first; those that go on are left out. */
export function sessionsAmong(
  sessions: string,
  { since, live }: { since: number; live: ReadonlySet<string> },
): CapturedSession[] {
  const restricted = new Map<string, boolean>();
  return entriesIn(sessions)
    .filter(({ name, isFolder }) => isFolder && isSlug(name) && !live.has(name))
    .map(({ name }) => ({ name, atMs: lstatOf(artifactPath(sessions, name))?.mtimeMs ?? -1 }))
    .filter(({ atMs }) => atMs >= Math.max(0, since))
    .sort((a, b) => a.atMs - b.atMs || (a.name < b.name ? -1 : 1))
    .flatMap(({ name }) => {
      const artifact = artifactOf(sessions, name);
      return artifact === undefined ? [] : [sessionWith(sessions, name, artifact, restricted)];
    });
}

export const RESTRICTED = 'its work is restricted and stays on this machine';

/**
 * What is to be of a session's issue; or why it gets none. Its identity is what the artifact calls itself: two that
 * have one slug are one issue.
 */
export type SessionPlan = { wanted: Wanted; status: Status } | { wanted: null; reason: string };

const PRIORITY_OF: Readonly<Record<string, Priority>> = {
  e5: 'P0',
  comprehensive: 'P0',
  e4: 'P1',
  deep: 'P1',
  e3: 'P1',
  advanced: 'P1',
  e2: 'P2',
  extended: 'P2',
};

/**
 * The gates and the issue of a session: ALGORITHM at execute or later, NATIVE with a file beside its artifact. The
 * sweep titles and flags what the hook has missed as its own.
 */
export function planSession(
  session: CapturedSession,
  rules: SessionRules,
  from: 'hook' | 'sweep',
): SessionPlan {
  const { slug, artifact } = session;
  const { config, daName } = rules.work;
  const none = (reason: string): SessionPlan => ({ wanted: null, reason });
  if (session.isRestricted() || workedRestricted(rules, session)) return none(RESTRICTED);
  const isNative = artifact.mode === 'native';
  const phase = phaseNamed(phaseOf(rules, session) ?? ('starting' satisfies PhaseId));
  if (isNative) {
    if (!config.CAPTURE_NATIVE) return none('WORK.CAPTURE_NATIVE is false');
    if (!session.hasOthers()) return none('there is no file beside its artifact');
  } else if (phase?.synced !== true) {
    return none(`its phase is ${phase?.id ?? 'unknown'}, before execute`);
  }
  const status: Status = isNative ? 'queued' : (phase?.status ?? 'queued');
  const property = propertyOfProject(artifact.project, config.PROJECT_PROPERTY);
  const source = from === 'hook' ? 'core-sync' : 'auto-sweep';
  const effort = (artifact.effort ?? '').trim().toLowerCase();
  return {
    status,
    wanted: {
      identity: { kind: 'slug', value: artifact.slug ?? slug },
      kind: isNative ? 'native' : from === 'hook' ? 'core' : 'sweep',
      text: redacted(artifact.task ?? slug),
      body: bodyOf(session),
      labels: [
        isNative ? 'auto-native' : source,
        isNative ? 'Type:queue' : 'Type:feature',
        ...(property === null ? [] : [`Property:${property}`]),
        `Status:${status}`,
        `Priority:${Object.hasOwn(PRIORITY_OF, effort) ? PRIORITY_OF[effort] : 'P3'}`,
        agentLabel(agentName(daName)),
      ],
      ...(artifact.github_issue === null ? {} : { known: artifact.github_issue }),
    },
  };
}

/** What the front matter says; of the text of the artifact nothing leaves. */
function bodyOf({ slug, artifact }: CapturedSession): string {
  const { task, project, effort, progress } = artifact;
  return Object.entries({ Session: slug, Task: task, Project: project, Effort: effort, Progress: progress })
    .flatMap(([name, value]) => (value === null ? [] : [`${name}: ${codeSpan(redacted(value))}`]))
    .join('\n');
}

/** The phase of the session: what its artifact says, or a notification after that. */
function phaseOf(rules: SessionRules, { slug, artifact }: CapturedSession): string | null {
  const said = rules.state().sessions[slug]?.phaseHistory.at(-1);
  if (said === undefined) return artifact.phase;
  const writtenMs = writtenAt(rules, slug) ?? 0;
  return (parseIso(said.at) ?? 0) > writtenMs || artifact.phase === null ? said.phase : artifact.phase;
}

/** Does the work stay on the machine by what the hooks saw of the session, without a mark in its folder? */
function workedRestricted(rules: SessionRules, { slug, artifact }: CapturedSession): boolean {
  const atMs = writtenAt(rules, slug);
  if (atMs === undefined || !isRestrictedWork(rules.state(), { slug, artifact, atMs })) return false;
  if (rules.marks) markRestricted(dirname(artifactPath(rules.sessions, slug)));
  return true;
}

function writtenAt({ sessions }: SessionRules, slug: string): number | undefined {
  return lstatOf(artifactPath(sessions, slug))?.mtimeMs;
}
