import { toIso } from '../../src/lib/platform/time/clock';
import type { Cache } from '../../src/lib/work/cache';

const STATUSES = ['queued', 'ready', 'in-progress', 'in-review', 'blocked', 'done'];
const PROPERTIES = ['website', 'newsletter', 'podcast', 'core'];
const HOUR_MS = 3_600_000;

/** A cache with so many issues, four of five closed, as a repository has it after some years. */
export function manyCached(count: number, nowMs: number): Cache {
  const issues = Array.from({ length: count }, (_, index) => {
    const number = index + 1;
    const isClosed = index % 5 !== 0;
    const at = toIso(nowMs - (count - index) * 6 * HOUR_MS);
    return {
      number,
      title: `[Core] Work on part ${number} of the whole thing, and then on its tests [slug:part-${number}]`,
      url: `https://github.com/ann/work/issues/${number}`,
      state: isClosed ? ('closed' as const) : ('open' as const),
      stateReason: isClosed ? 'completed' : null,
      labels: [
        'core-sync',
        'Type:feature',
        `Status:${isClosed ? 'done' : STATUSES[number % STATUSES.length]}`,
        `Priority:P${number % 4}`,
        `Property:${PROPERTIES[number % PROPERTIES.length]}`,
        'Agent:nova',
      ],
      createdAt: at,
      updatedAt: at,
      closedAt: isClosed ? at : null,
      identity: `slug=part-${number}`,
      due: null,
    };
  });
  const at = toIso(nowMs);
  return { repo: 'ann/work', issues, malformed: 0, since: at, fullAt: at, etag: null, labels: null };
}

/** The files of `work/` by name: the repository is private, and was read a moment ago. */
export function manyIssues(count: number, nowMs: number): Record<string, string> {
  const at = toIso(nowMs);
  const privacy = {
    verifiedPrivate: true,
    visibility: 'private',
    verifiedAt: at,
    ttlHours: 24,
    repo: 'ann/work',
    repoId: 1,
  };
  return {
    'work_repo.json': `${JSON.stringify({ repo: 'ann/work', enabled: true, privacy })}\n`,
    // An hour between two polls: a bench may take its time.
    'config.yaml': 'POLL_INTERVAL_SECONDS: 3600\n',
    'cache.json': `${JSON.stringify({ version: 1, ...manyCached(count, nowMs) })}\n`,
    'poll.json': `${JSON.stringify({ version: 1, repo: 'ann/work', lastFetch: at, failure: null })}\n`,
  };
}
