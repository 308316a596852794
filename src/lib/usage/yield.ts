import { toIso } from '../platform/time/clock';
import { sessionKey } from '../sessions/session-key';
import type { ResponseRow } from './ledger';
import type { Prices } from './prices';
import { usageBy, type Usage, type UsageRow } from './rollup';

/** A commit. `branch` and `issue` are the rows that it belongs to. */
export interface YieldCommit extends Record<'sha' | 'subject' | 'repo' | 'branch' | 'issue', string> {
  ms: number;
  /** Null if it isn't known, or if there was none. */
  session: string | null;
  /** What happened to it; null if it isn't known. */
  fate: Record<'kept' | 'merged' | 'reverted', boolean | null>;
}

/** `unclear` counts the commits of which something isn't known. */
export const YIELD_CELLS = [
  ...(['input', 'output', 'cacheRead', 'cacheWrite', 'cost', 'agentMinutes', 'yourMinutes'] as const),
  ...(['commits', 'kept', 'merged', 'reverted', 'unclear'] as const),
];
type Cells = Record<(typeof YIELD_CELLS)[number], number | null>;
const UNKNOWN = Object.fromEntries(YIELD_CELLS.map((cell) => [cell, null])) as Cells;

/** A row of `usage --by issue|branch|commit`. What isn't known is null. */
export interface YieldRow extends Cells {
  key: string;
  issues: IssueState[];
  /** Set for a commit. */
  commit?: Pick<YieldCommit, 'repo' | 'subject' | 'session'> & { at: string };
}

export interface IssueState {
  key: string;
  state: 'open' | 'closed' | 'unknown';
}

export type Yield = Omit<Usage, 'rows'> & { rows: YieldRow[] };

type Minutes = Pick<Cells, 'agentMinutes' | 'yourMinutes'>;
type SessionSpans = readonly { session: string; span: readonly [from: number, to: number] }[];

const NO_TOKENS = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 };

/** Adds times and commits to the rows of issues or branches. `commits` is undefined if they aren't known. */
export function groupYield(
  rows: readonly UsageRow[],
  by: 'issue' | 'branch',
  times: ReadonlyMap<string, Minutes>,
  commits: readonly YieldCommit[] | undefined,
  statesOf: (issue: string) => IssueState[],
): YieldRow[] {
  const used = new Map(rows.map((row) => [row.key, row]));
  const keys = [...used.keys(), ...times.keys(), ...(commits ?? []).map((commit) => commit[by])];
  return [...new Set(keys)].map((key) => {
    const own = commits?.filter((commit) => commit[by] === key);
    const time = times.get(key);
    const issues = by === 'issue' ? [key] : [...new Set(own?.map(({ issue }) => issue))];
    const amounts = used.get(key) ?? (time?.agentMinutes === 0 ? NO_TOKENS : {});
    return {
      ...UNKNOWN,
      ...amounts,
      ...time,
      ...(own && countsOf(own)),
      key,
      issues: issues.flatMap(statesOf),
    };
  });
}

interface CommitInput extends Record<'agents' | 'yours', SessionSpans> {
  /** Oldest first, with those before the first one that is shown. */
  commits: readonly YieldCommit[];
  responses: readonly ResponseRow[];
  /** Before this time, responses aren't known. */
  oldestMs: number;
  fromMs: number;
  prices: Prices;
}

/** A commit's time is its second, so it was made up to this much later. */
const LAST_MS = 999;

/** Returns a row for each commit since `fromMs`, newest first: what its session used since its previous commit. */
export function commitYield(input: CommitInput, statesOf: (issue: string) => IssueState[]): YieldRow[] {
  const { prices, oldestMs, fromMs } = input;
  const previousMs = new Map<string, number>();
  const responses = new Map<string, ResponseRow[]>();
  for (const row of input.responses) {
    const session = sessionKey(row.assistant, row.session);
    responses.set(session, [...(responses.get(session) ?? []), row]);
  }
  const rows = input.commits.map((commit): YieldRow => {
    const { sha, repo, subject, session, ms } = commit;
    const [from, to] = [previousMs.get(session ?? '') ?? -Infinity, ms + LAST_MS];
    if (session !== null) previousMs.set(session, to);
    const own = ms < oldestMs ? undefined : responses.get(session ?? '');
    const used = own?.filter((row) => row.ms > from && row.ms <= to) ?? [];
    const [amounts = NO_TOKENS] = usageBy(used, 'session', prices).rows;
    const minutes = (spans: SessionSpans): number | null =>
      session === null ? null : minutesIn(spans.filter((each) => each.session === session), from, to); // prettier-ignore
    return {
      ...{ ...UNKNOWN, ...(own && amounts), ...countsOf([commit]), issues: statesOf(commit.issue) },
      ...{ agentMinutes: minutes(input.agents), yourMinutes: minutes(input.yours) },
      ...{ key: sha, commit: { repo, subject, session, at: toIso(ms) } },
    };
  });
  return rows.filter((_, at) => (input.commits[at]?.ms ?? 0) >= fromMs).reverse();
}

function minutesIn(spans: SessionSpans, from: number, to: number): number {
  const lengths = spans.map(({ span: [start, end] }) => Math.min(end, to) - Math.max(start, from));
  return Math.round(lengths.reduce((sum, ms) => sum + Math.max(0, ms), 0) / 6000) / 10;
}

function countsOf(commits: readonly YieldCommit[]) {
  const count = (name: keyof YieldCommit['fate']): number => commits.filter(({ fate }) => fate[name]).length;
  const unclear = commits.filter(({ fate }) => Object.values(fate).includes(null)).length;
  const [kept, merged, reverted] = [count('kept'), count('merged'), count('reverted')];
  return { commits: commits.length, kept, merged, reverted, unclear };
}
