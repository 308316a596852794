import { EXIT_CODES } from '../platform/terminal/exit-codes';
import type { Finding, Part, State } from './finding';

/** A line of the report. */
export interface Row {
  id: string;
  part: Part;
  title: string;
  state: State;
  found: string;
  /** The command that mends it; null: there is none, or nothing to mend. */
  mend: string | null;
  /** What else to do. */
  hint: string | null;
}

/** `doctor --json`. */
export interface DoctorReport {
  /** The worst of all lines; `off` counts as ok. */
  worst: Exclude<State, 'off'>;
  counts: Record<State, number>;
  checks: Row[];
}

export interface Found {
  row: Row;
  kind: Finding['kind'];
}

export function reportOf(found: readonly Found[]): DoctorReport {
  const counts: Record<State, number> = { ok: 0, off: 0, warning: 0, failed: 0 };
  for (const { row } of found) counts[row.state] += 1;
  const worst = counts.failed > 0 ? 'failed' : counts.warning > 0 ? 'warning' : 'ok';
  return { worst, counts, checks: found.map(({ row }) => row) };
}

/**
 * The exit code by the worst line: 3 when the configuration is wrong, since nothing that stands on it was looked at;
 * 8 when something else that should work does not; 4 when it is only a login; 0 otherwise, with `strict` 8 for a
 * warning, too.
 */
export function exitCodeOf(found: readonly Found[], strict: boolean): number {
  const kinds = found.filter(({ row }) => row.state === 'failed').map(({ kind }) => kind);
  if (kinds.includes('config')) return EXIT_CODES.config;
  if (kinds.some((kind) => kind !== 'auth')) return EXIT_CODES.unavailable;
  if (kinds.length > 0) return EXIT_CODES.auth;
  return strict && found.some(({ row }) => row.state === 'warning') ? EXIT_CODES.unavailable : 0;
}
