import { csv } from '../platform/terminal/csv';
import { minutes, plural, table, tokens, usdCell, type Column } from '../platform/terminal/format';
import { clean } from '../platform/terminal/terminal';
import type { YieldRow } from './yield';

const RIGHT: Column = { align: 'right' };

/** Formats the rows as a table: what each used, and the results. */
export function yieldLines(rows: readonly YieldRow[], by: string): string[] {
  const time = (value: number | null): string => (value === null ? 'unknown' : minutes(value));
  const cells = rows.map((row) => {
    const { commit, input, output, cacheRead, cacheWrite } = row;
    const used = [input, output, cacheRead, cacheWrite];
    const sum = used.reduce<number>((all, each) => all + (each ?? 0), 0);
    const name = commit === undefined ? row.key : `${commit.repo} ${row.key.slice(0, 10)} ${commit.subject}`;
    return [
      ...[clean(name), used.includes(null) ? 'unknown' : tokens(sum), usdCell(row.cost)],
      ...[time(row.agentMinutes), time(row.yourMinutes), outcomeOf(row)],
    ];
  });
  const heads = [by, 'tokens', 'cost', 'agents', 'you', 'outcome'];
  return table([heads, ...cells], [{ max: 40 }, RIGHT, RIGHT, RIGHT, RIGHT]).split('\n');
}

function outcomeOf({ commit, commits, kept, merged, reverted, unclear, issues }: YieldRow): string {
  const fates = { kept, merged, reverted, unknown: unclear };
  const some = Object.entries(fates).filter(([, count]) => (count ?? 0) > 0);
  const words = some.map(([word, count]) => (commit === undefined ? `${String(count)} ${word}` : word));
  const counted =
    commits === null ? ['commits unknown'] : [commits === 0 ? 'no commits' : plural(commits, 'commit')];
  const all = [...(commit === undefined ? counted : []), ...words];
  if (commit !== undefined && kept === 0 && unclear === 0) all.unshift('not kept');
  return [
    ...all,
    ...issues.map(({ key, state }) => `${clean(key)} ${state === 'unknown' ? 'state unknown' : state}`),
  ].join(', ');
}

const CELLS = [
  ...(['key', 'input', 'output', 'cacheRead', 'cacheWrite', 'cost', 'agentMinutes', 'yourMinutes'] as const),
  ...(['commits', 'kept', 'merged', 'reverted', 'unclear'] as const),
];

/** Formats the rows as CSV. What isn't known is an empty cell. */
export function yieldCsv(rows: readonly YieldRow[]): string {
  const issues = (row: YieldRow): string => row.issues.map(({ key, state }) => `${key} ${state}`).join(' ');
  return [
    ...csv([...CELLS, 'issues'], rows, (row) => [[...CELLS.map((cell) => row[cell]), issues(row)]]),
  ].join('');
}
