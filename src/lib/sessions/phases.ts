export type PhaseId =
  | 'starting'
  | 'observe'
  | 'think'
  | 'plan'
  | 'build'
  | 'execute'
  | 'verify'
  | 'learn'
  | 'complete'
  | 'native';

export const PHASES: readonly Phase[] = [
  row('starting', 'Starting', '○', '#8a8a8a', 0, false, 'queued'),
  row('observe', 'Observe', '◔', '#5fafd7', 1, false, 'queued'),
  row('think', 'Think', '◑', '#af87d7', 2, false, 'queued', ['scoping']),
  row('plan', 'Plan', '◕', '#5f87d7', 3, false, 'queued'),
  row('build', 'Build', '▲', '#d7875f', 4, false, 'queued'),
  row('execute', 'Execute', '▶', '#d7af5f', 5, true, 'in-progress', ['climbing']),
  row('verify', 'Verify', '◆', '#5fd7af', 6, true, 'in-review'),
  row('learn', 'Learn', '✎', '#87d75f', 7, true, 'in-review'),
  row('complete', 'Complete', '✓', '#5faf5f', 8, true, 'done'),
  row('native', 'Native', '●', '#9e9e9e', 0, false, 'queued'),
];

/**
 * @param icon the one-character symbol shown in the terminal tab's title
 * @param color the phase's color in terminal tabs and on pages, as `#rrggbb`
 * @param synced whether the session-end hook sends a session in this phase to the work repository
 * @param status the suffix of the `Status:` label that the session's issue gets
 * @param retired former names of the phase that are still accepted
 */
function row(
  id: PhaseId,
  label: string,
  icon: string,
  color: string,
  order: number,
  synced: boolean,
  status: 'queued' | 'in-progress' | 'in-review' | 'done',
  retired: readonly string[] = [],
) {
  return { id, label, icon, color, order, synced, status, retired };
}

type Phase = ReturnType<typeof row>;

const BY_NAME = new Map(
  PHASES.flatMap((phase) => [phase.id, ...phase.retired].map((name) => [name, phase] as const)),
);

/** Returns the phase with this current or former name, ignoring case. */
export function phaseNamed(text: string): Phase | undefined {
  return BY_NAME.get(text) ?? BY_NAME.get(text.trim().toLowerCase());
}

export function phase(id: PhaseId): Phase {
  return PHASES.find((row) => row.id === id) as Phase;
}

/**
 * Returns the title for a session's terminal tab. The title needs no escaping, because `PHASES` defines all
 * its text.
 */
export function tabTitle(id: PhaseId): string {
  const { icon, label } = phase(id);
  return `${icon} ${label}`;
}

/**
 * Returns the message that confirms or rejects a phase change.
 * @param result the daemon's error, or undefined if the phase was set
 */
export function phaseWords(name: string, slug: string | undefined, result: string | undefined): string {
  switch (result) {
    case undefined:
      return `The phase of ${slug ?? 'the session'} is now ${phaseNamed(name)?.label ?? name}.`;
    case 'no session':
      return slug === undefined
        ? 'Phase not set: no session was active in the last two hours. Run "steward sessions".'
        : `Phase not set: session ${slug} not found. Run "steward sessions --all".`;
    case 'unknown':
      return `Phase not set: unknown phase "${name}". Use ${PHASES.map(({ id }) => id).join(', ')}.`;
    case 'not known':
      return 'The daemon did not confirm the phase change. Run "steward sessions".';
    default:
      return `Phase not set. Run "steward notify phase ${name}" for the reason.`;
  }
}
