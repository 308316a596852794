import type { WorkConfig } from '../../config/schema';
import type { Artifact } from '../../sessions/artifact';
import { phaseNamed, type PhaseId } from '../../sessions/phases';
import type { Wanted } from '../ensure';
import { agentLabel, agentName, type Priority, type Status, propertyOfProject } from '../label';
import { redacted } from '../redact';

/** A session as capture looks at it. */
export interface CapturedSession {
  /** The name of its folder. */
  slug: string;
  artifact: Artifact;
  /** Are there files beside the artifact? */
  readonly hasOthers: boolean;
  /** Does its work stay on the machine? */
  readonly restricted: boolean;
}

export interface SessionRules {
  config: Pick<WorkConfig, 'CAPTURE_NATIVE' | 'PROJECT_PROPERTY'>;
  daName: string;
  /** Does the work of a session stay on the machine by what the hooks saw of it, without a mark in its folder? */
  isRestrictedWork: (found: Pick<CapturedSession, 'slug' | 'artifact'>) => boolean;
  /** The phase of the session: what its artifact says, or a notification after that. */
  phaseOf: (found: Pick<CapturedSession, 'slug' | 'artifact'>) => string | null;
}

export const RESTRICTED = 'its work is restricted and stays on this machine';

/**
 * What is to be of a session's issue; or why it gets none. Its identity is what the artifact calls itself: two that
 * have one slug are one issue (service.md: Errors).
 */
export type SessionPlan = { wanted: Wanted; status: Status } | { wanted: null; reason: string };

/** decisions.md 4: effort → Priority. */
const PRIORITY_OF: ReadonlyMap<string, Priority> = new Map([
  ['e5', 'P0'], ['comprehensive', 'P0'],
  ['e4', 'P1'], ['deep', 'P1'], ['e3', 'P1'], ['advanced', 'P1'],
  ['e2', 'P2'], ['extended', 'P2'],
]); // prettier-ignore

function priorityOfEffort(effort: string | null): Priority {
  return PRIORITY_OF.get((effort ?? '').trim().toLowerCase()) ?? 'P3';
}

/**
 * The gates and the issue of a session: ALGORITHM at execute or later,
 * NATIVE with a file beside its artifact. The sweep titles and flags what the hook has missed as its own.
 */
export function planSession(
  session: CapturedSession,
  rules: SessionRules,
  from: 'hook' | 'sweep',
): SessionPlan {
  const { slug, artifact } = session;
  const none = (reason: string): SessionPlan => ({ wanted: null, reason });
  if (session.restricted || rules.isRestrictedWork(session)) return none(RESTRICTED);
  const isNative = artifact.mode === 'native';
  const phase = phaseNamed(rules.phaseOf(session) ?? ('starting' satisfies PhaseId));
  if (isNative) {
    if (!rules.config.CAPTURE_NATIVE) return none('WORK.CAPTURE_NATIVE is false');
    if (!session.hasOthers) return none('there is no file beside its artifact');
  } else if (phase?.synced !== true) {
    return none(`its phase is ${phase?.id ?? 'unknown'}, before execute`);
  }
  const status: Status = isNative ? 'queued' : (phase?.status ?? 'queued');
  const property = propertyOfProject(artifact.project, rules.config.PROJECT_PROPERTY);
  const flag = isNative ? 'auto-native' : from === 'hook' ? 'core-sync' : 'auto-sweep';
  return {
    status,
    wanted: {
      identity: { kind: 'slug', value: artifact.slug ?? slug },
      kind: isNative ? 'native' : from === 'hook' ? 'core' : 'sweep',
      text: redacted(artifact.task ?? slug),
      body: bodyOf(session),
      labels: [
        flag,
        isNative ? 'Type:queue' : 'Type:feature',
        ...(property === null ? [] : [`Property:${property}`]),
        `Status:${status}`,
        `Priority:${priorityOfEffort(artifact.effort)}`,
        agentLabel(agentName(rules.daName)),
      ],
      ...(artifact.github_issue === null ? {} : { known: artifact.github_issue }),
    },
  };
}

/** What the front matter says; of the text of the artifact nothing leaves. */
function bodyOf({ slug, artifact }: CapturedSession): string {
  const rows: [string, string | null][] = [
    ['Session', slug],
    ['Task', artifact.task],
    ['Project', artifact.project],
    ['Effort', artifact.effort],
    ['Progress', artifact.progress],
  ];
  return rows.flatMap(([name, value]) => (value === null ? [] : [`${name}: ${redacted(value)}`])).join('\n');
}
