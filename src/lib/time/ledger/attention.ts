import { byCodeUnits } from '../../platform/files/short-hash';
import { inMinutes } from '../focus-tally';
import type { AttentionRow } from './model';
import type { Span } from './spans';

/** Part of a sample during which the foreground session, if any, stayed the same. */
export interface Piece extends Required<Omit<AttentionRow, 'minutes' | 'otherFolder'>> {
  span: Span;
  otherFolder: boolean;
}

/** Adds up your time per application, repository, branch and session. */
export function attentionRows(pieces: readonly Piece[]): AttentionRow[] {
  const rows = new Map<string, { row: Omit<AttentionRow, 'minutes'>; ms: number }>();
  for (const { span, app, repo, otherFolder, branch, session, assistant } of pieces) {
    const row = { app, repo, ...(otherFolder ? { otherFolder } : {}), branch, session, assistant };
    const key = JSON.stringify(row);
    const ms = span[1] - span[0];
    rows.set(key, { row, ms: (rows.get(key)?.ms ?? 0) + ms });
  }
  const sorted = [...rows].sort(([a, x], [b, y]) => y.ms - x.ms || byCodeUnits(a, b)).map(([, each]) => each);
  return inMinutes(sorted, ({ row }, minutes) => ({ ...row, minutes }));
}
