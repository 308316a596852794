/** One row of the phase table. */
export interface Phase {
  id: PhaseId;
  /** As a person reads it. */
  label: string;
  /** One character for a terminal's tab. */
  icon: string;
  /** For a tab or a page, `#rrggbb`. */
  color: string;
  /** A session moves from lower to higher, as a rule. */
  order: number;
  /** Does the session-end hook bring such a session to the work repository? */
  synced: boolean;
  /** The Status label of its issue, without `Status:`. */
  status: 'queued' | 'in-progress' | 'in-review' | 'done';
  /** Spellings of former versions that are read as this one. */
  retired: readonly string[];
}

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

/** The one table: nothing else lists phases. */
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

function row(
  id: PhaseId,
  label: string,
  icon: string,
  color: string,
  order: number,
  synced: boolean,
  status: Phase['status'],
  retired: readonly string[] = [],
): Phase {
  return { id, label, icon, color, order, synced, status, retired };
}

/** The phase that a text names, retired spellings and upper case included; undefined when it names none. */
export function phaseNamed(text: string): Phase | undefined {
  const name = text.trim().toLowerCase();
  return PHASES.find(({ id, retired }) => id === name || retired.includes(name));
}

/** The row of a phase. */
export function phase(id: PhaseId): Phase {
  return PHASES.find((row) => row.id === id) as Phase;
}

/** The title of a session's tab: strings of the table alone, never a text from elsewhere. */
export function tabTitle(id: PhaseId): string {
  const { icon, label } = phase(id);
  return `${icon} ${label}`;
}

/**
 * What came of a notification's phase, for a person.
 *
 * @param result as the answer says it: nothing when it was written
 */
export function phaseWords(name: string, slug: string | undefined, result: string | undefined): string {
  switch (result) {
    case undefined:
      return `The phase of ${slug ?? 'the session'} is ${phaseNamed(name)?.label ?? name} now.`;
    case 'no session':
      return slug === undefined
        ? 'No phase was written: no session was active in the last two hours. See "steward sessions".'
        : `No phase was written: there is no session ${slug}. See "steward sessions --all".`;
    case 'unknown':
      return `No phase was written: "${name}" is none. They are ${PHASES.map(({ id }) => id).join(', ')}.`;
    case 'not known':
      return 'Whether the phase was written is not known: "steward sessions" shows it.';
    default:
      return `The phase was not written: "steward notify phase ${name}" says why.`;
  }
}
