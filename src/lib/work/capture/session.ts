import { dirname } from 'node:path';

import { listFolder, lstatOf } from '../../platform/files/folder';
import { entriesIn, stampOf } from '../../platform/files/stat';
import { parseIso } from '../../platform/time/clock';
import { ARTIFACT_NAME, artifactOf, artifactPath, type Artifact } from '../../sessions/artifact';
import { phaseNamed, type PhaseId } from '../../sessions/phases';
import type { SessionsState } from '../../sessions/session';
import { isSlug } from '../../sessions/slug';
import type { WorkDeps } from '../deps';
import type { Wanted } from '../ensure';
import { agentLabel, agentName, propertyOfProject, type Priority, type IssueStatus } from '../label';
import { codeSpan, redact } from '../outgoing';

export interface SessionRules {
  work: WorkDeps;
  sessions: string;
  state: () => SessionsState;
}

/** Reads the session in a folder. Returns undefined if the folder has no session file. */
export function sessionAt(sessions: string, slug: string): CapturedSession | undefined {
  const artifact = artifactOf(sessions, slug);
  return artifact === undefined ? undefined : sessionWith(sessions, slug, artifact);
}

function sessionWith(sessions: string, slug: string, artifact: Artifact) {
  const folder = dirname(artifactPath(sessions, slug));
  const isFile = (name: string): boolean =>
    name !== ARTIFACT_NAME &&
    !name.startsWith('.') &&
    !name.endsWith('.tmp') &&
    (stampOf(`${folder}/${name}`)?.kind ?? 'other') !== 'other';
  return {
    slug,
    artifact,
    /** Returns whether the folder contains files other than the session file. */
    hasFiles: () => listFolder(folder).some(isFile),
  };
}

export type CapturedSession = ReturnType<typeof sessionWith>;

/** Returns ended sessions whose session files were modified at or after `since`, oldest first. */
export function sessionsAmong(
  sessions: string,
  { since, live }: { since: number; live: ReadonlySet<string> },
): CapturedSession[] {
  return entriesIn(sessions)
    .filter(({ name, isFolder }) => isFolder && isSlug(name) && !live.has(name))
    .map(({ name }) => ({ name, atMs: lstatOf(artifactPath(sessions, name))?.mtimeMs ?? -1 }))
    .filter(({ atMs }) => atMs >= Math.max(0, since))
    .sort((a, b) => a.atMs - b.atMs || (a.name < b.name ? -1 : 1))
    .flatMap(({ name }) => {
      const artifact = artifactOf(sessions, name);
      return artifact === undefined ? [] : [sessionWith(sessions, name, artifact)];
    });
}

/** The issue that a session should have, or why it shouldn't have an issue. */
export type SessionPlan = { wanted: Wanted; status: IssueStatus } | { wanted: null; reason: string };

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
 * Plans the issue for a session. Requires the execute phase or, for a native session, files other than the
 * session file.
 */
export function planSession(
  session: CapturedSession,
  rules: SessionRules,
  from: 'hook' | 'sweep',
): SessionPlan {
  const { slug, artifact } = session;
  const { config, daName } = rules.work;
  const none = (reason: string): SessionPlan => ({ wanted: null, reason });
  const isNative = artifact.mode === 'native';
  const phase = phaseNamed(phaseOf(rules, session) ?? ('starting' satisfies PhaseId));
  if (isNative) {
    if (!config.CAPTURE_NATIVE) return none('WORK.CAPTURE_NATIVE is false');
    if (!session.hasFiles()) return none('the folder contains only the session file');
  } else if (phase?.synced !== true) {
    return none(`the session has not reached the execute phase (${phase?.id ?? 'unknown'})`);
  }
  const status: IssueStatus = isNative ? 'queued' : (phase?.status ?? 'queued');
  const property = propertyOfProject(artifact.project, config.PROJECT_PROPERTY);
  const source = from === 'hook' ? 'core-sync' : 'auto-sweep';
  const effort = (artifact.effort ?? '').trim().toLowerCase();
  return {
    status,
    wanted: {
      identity: { kind: 'slug', value: artifact.slug ?? slug },
      kind: isNative ? 'native' : from === 'hook' ? 'core' : 'sweep',
      text: redact(artifact.task ?? slug),
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

/** Formats the front matter fields. The rest of the session file stays on this machine. */
function bodyOf({ slug, artifact }: CapturedSession): string {
  const { task, project, effort, progress } = artifact;
  return Object.entries({ Session: slug, Task: task, Project: project, Effort: effort, Progress: progress })
    .flatMap(([name, value]) => (value === null ? [] : [`${name}: ${codeSpan(redact(value))}`]))
    .join('\n');
}

/** Returns the phase from the session file or from the phase history, whichever is newer. */
function phaseOf(rules: SessionRules, { slug, artifact }: CapturedSession): string | null {
  const last = rules.state().sessions[slug]?.phaseHistory.at(-1);
  if (last === undefined) return artifact.phase;
  const isLater = (parseIso(last.at) ?? 0) > (lstatOf(artifactPath(rules.sessions, slug))?.mtimeMs ?? 0);
  return isLater || artifact.phase === null ? last.phase : artifact.phase;
}
