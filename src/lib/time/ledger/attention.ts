import { byCodeUnits } from '../../platform/files/short-hash';
import { apportion, TENTH_MS } from '../focus-tally';
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
  let totalMs = 0;
  for (const { span, app, repo, otherFolder, branch, session, assistant } of pieces) {
    const row = { app, repo, ...(otherFolder ? { otherFolder } : {}), branch, session, assistant };
    const key = JSON.stringify(row);
    const ms = span[1] - span[0];
    totalMs += ms;
    rows.set(key, { row, ms: (rows.get(key)?.ms ?? 0) + ms });
  }
  const sorted = [...rows].sort(([a, x], [b, y]) => y.ms - x.ms || byCodeUnits(a, b)).map(([, each]) => each);
  const shares = apportion(
    Math.round(totalMs / TENTH_MS),
    sorted.map(({ ms }) => ms),
    TENTH_MS,
  );
  return sorted.flatMap(({ row }, i) => {
    const tenths = shares[i] ?? 0;
    return tenths === 0 ? [] : [{ ...row, minutes: tenths / 10 }];
  });
}
