import type { Day } from '../platform/time/time';
import { commitsIn } from '../time/day-timeline';
import type { SenseEvent } from '../time/event';
import { ledgerTally } from '../time/ledger/ledger';
import { within, type Span } from '../time/ledger/spans';
import { timeIn, type Timeline } from '../time/ledger/timeline';
import type { ReadDeps } from './read';

/** A commit, and the session that made it; null if it isn't known or there was none. */
export type CommitWork = Commit & { session: string | null };
type Commit = ReturnType<typeof commitsIn>[number];

/** Returns the days' commits, oldest first, and when agents worked and you were in each session. */
export function commitWork({ store, config }: ReadDeps, days: readonly Day[]) {
  const commits = new Map<string, CommitWork>();
  const agents: { session: string; span: Span }[] = [];
  const yours: typeof agents = [];
  for (const day of days.filter((each) => store.logBytes(each) !== undefined)) {
    const tally = ledgerTally(config.pollIntervalSec);
    const own: SenseEvent[] = [];
    store.scanLog(day, (event, ms) => {
      tally.add(ms, event);
      if (event.type === 'git-commit') own.push(event);
    });
    const { timeline, covered } = tally.sessions();
    for (const commit of commitsIn(own)) {
      const key = JSON.stringify([commit.path ?? commit.repo, commit.change]);
      if (!commits.has(key)) commits.set(key, { ...commit, session: sessionOf(timeline, commit) });
    }
    for (const [session, stays] of timeline.stays) {
      const spans = within(timeIn(stays, 'working'), covered);
      agents.push(...spans.map((span) => ({ session, span })));
    }
    for (const { session, span } of tally.pieces()) if (session !== null) yours.push({ session, span });
  }
  return { commits: [...commits.values()], agents, yours };
}

/**
 * Returns the only session that worked in the commit's repository and branch at that time; if none worked, the
 * only one that was running there.
 */
function sessionOf(timeline: Timeline, { repo, branch, ms }: Commit): string | null {
  const there = [...timeline.stays].flatMap(([session, stays]) =>
    stays
      .filter((stay) => stay.ms <= ms + LAST_MS && stay.untilMs > ms && stay.state !== 'over')
      .filter((stay) => stay.repo === repo && (stay.branch ?? branch) === branch)
      .map(({ state }) => ({ session, state })),
  );
  const working = there.filter(({ state }) => state === 'working');
  const sessions = new Set((working.length > 0 ? working : there).map(({ session }) => session));
  return sessions.size === 1 ? ([...sessions][0] ?? null) : null;
}

/** A commit's time is its second, so the commit was made up to this much later. */
const LAST_MS = 999;
