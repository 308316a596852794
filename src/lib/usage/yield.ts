import { toIso } from '../platform/time/clock';
import { sessionKey } from '../sessions/session-key';
import type { ResponseRow } from './ledger';
import type { Prices } from './prices';
import { usageBy, type Usage, type UsageRow } from './rollup';

/** The groupings that also show the results of the work. */
export const YIELD_GROUPINGS = ['issue', 'branch', 'commit'] as const;
export type YieldGrouping = (typeof YIELD_GROUPINGS)[number];

/** The fate of a commit; null if it isn't known. */
type Fate = Record<'kept' | 'merged' | 'reverted', boolean | null>;

/** A commit. `branch` and `issue` are the rows that it belongs to. */
export interface YieldCommit extends Record<'sha' | 'subject' | 'repo' | 'branch' | 'issue', string> {
  ms: number;
  /** Null if it isn't known, or if there was none. */
  session: string | null;
  fate: Fate;
}

export interface IssueState {
  key: string;
  state: 'open' | 'closed' | 'unknown';
}

type Minutes = Record<'agentMinutes' | 'yourMinutes', number | null>;

/** A row of `usage --by issue|branch|commit`. What isn't known is null. */
export type YieldRow = Minutes &
  Record<Exclude<keyof UsageRow, 'key'> | keyof typeof UNCOUNTED, number | null> & {
    key: string;
    issues: IssueState[];
    /** Set for a commit. */
    commit?: Pick<YieldCommit, 'repo' | 'subject' | 'session'> & { at: string };
  };

export type Yield = Omit<Usage, 'rows'> & { rows: YieldRow[] };

type SessionSpans = readonly { session: string; span: readonly [from: number, to: number] }[];

const UNKNOWN_TOKENS = { input: null, output: null, cacheRead: null, cacheWrite: null, cost: null };
const NO_TOKENS = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 };
/** `unclear` counts the commits of which something isn't known. */
const UNCOUNTED = { commits: null, kept: null, merged: null, reverted: null, unclear: null };
const UNTIMED: Minutes = { agentMinutes: null, yourMinutes: null };

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
    const time = times.get(key) ?? UNTIMED;
    const issues = by === 'issue' ? [key] : [...new Set(own?.map(({ issue }) => issue))];
    return {
      ...(used.get(key) ?? (time.agentMinutes === 0 ? NO_TOKENS : UNKNOWN_TOKENS)),
      ...{ key, ...time, ...(own === undefined ? UNCOUNTED : countsOf(own)) },
      issues: issues.flatMap(statesOf),
    };
  });
}

interface CommitInput {
  /** Oldest first, with those before the first one that is shown. */
  commits: readonly YieldCommit[];
  agents: SessionSpans;
  yours: SessionSpans;
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
    const own = responses.get(session ?? '');
    const used = own?.filter((row) => row.ms > from && row.ms <= to) ?? [];
    const isKnown = own !== undefined && ms >= oldestMs;
    const { input: sent, output, cacheRead, cacheWrite, cost } = usageBy(used, 'session', prices).total;
    const minutesIn = (spans: SessionSpans): number | null =>
      session === null ? null : minutesOf(spans, session, [from, to]);
    return {
      ...{ key: sha, commit: { repo, subject, session, at: toIso(ms) } },
      ...(isKnown ? { input: sent, output, cacheRead, cacheWrite, cost } : UNKNOWN_TOKENS),
      ...{ agentMinutes: minutesIn(input.agents), yourMinutes: minutesIn(input.yours) },
      ...{ ...countsOf([commit]), issues: statesOf(commit.issue) },
    };
  });
  return rows.filter((_, at) => (input.commits[at]?.ms ?? 0) >= fromMs).reverse();
}

function minutesOf(spans: SessionSpans, session: string, [from, to]: readonly [number, number]): number {
  const lengths = spans
    .filter((each) => each.session === session)
    .map(({ span: [start, end] }) => Math.max(0, Math.min(end, to) - Math.max(start, from)));
  return Math.round(lengths.reduce((sum, ms) => sum + ms, 0) / 6000) / 10;
}

function countsOf(commits: readonly YieldCommit[]) {
  const fates = commits.map(({ fate }) => fate);
  const count = (is: (fate: Fate) => boolean): number => fates.filter(is).length;
  return {
    commits: commits.length,
    kept: count(({ kept }) => kept === true),
    merged: count(({ merged }) => merged === true),
    reverted: count(({ reverted }) => reverted === true),
    unclear: count(({ kept, merged, reverted }) => [kept, merged, reverted].includes(null)),
  };
}
