import { minutes, plural, table, tokens, usdCell, type Column } from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import type { YieldRow } from './yield';

const RIGHT: Column = { align: 'right' };

/** Formats the rows as a table: what each used, and the results. */
export function yieldLines(rows: readonly YieldRow[], by: string): string[] {
  const time = (value: number | null): string => (value === null ? 'unknown' : minutes(value));
  const cells = rows.map((row) => {
    const { commit, input, output, cacheRead, cacheWrite } = row;
    const used = [input, output, cacheRead, cacheWrite].map((count) => count ?? NaN);
    const sum = used.reduce((all, count) => all + count, 0);
    const name = commit === undefined ? row.key : `${commit.repo} ${row.key.slice(0, 10)} ${commit.subject}`;
    return [
      ...[clean(name), Number.isNaN(sum) ? 'unknown' : tokens(sum), usdCell(row.cost)],
      ...[time(row.agentMinutes), time(row.yourMinutes), outcomeOf(row)],
    ];
  });
  const heads = [by, 'tokens', 'cost', 'agents', 'you', 'outcome'];
  return table([heads, ...cells], [{ max: 40 }, RIGHT, RIGHT, RIGHT, RIGHT]).split('\n');
}

function outcomeOf({ commit, commits, kept, merged, reverted, unclear, issues }: YieldRow): string {
  const fates = { kept, merged, reverted, unknown: unclear };
  const words = Object.entries(fates).flatMap(([word, count]) => {
    return (count ?? 0) === 0 ? [] : [commit === undefined ? `${String(count)} ${word}` : word];
  });
  if (commit === undefined) words.unshift(commits === null ? 'commits unknown' : plural(commits, 'commit'));
  else if (words.length === 0) words.push('not kept');
  return [...words, ...issues.map(({ key, state }) => `${clean(key)} ${state}`)].join(', ');
}
