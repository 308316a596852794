import { toIso } from '../../src/lib/platform/time/clock';
import { cacheText, type Cache } from '../../src/lib/work/cache';

/** The text of a sessions.json with so many sessions of the past, as full as they get. */
export function manySessions(count: number, endedAt = '2026-11-01T10:00:00.000Z'): string {
  const sessions = Array.from({ length: count }, (_, index) => {
    const slug = `20261101-some-task-${String(index).padStart(8, '0')}`;
    const phases = ['native', 'observe', 'think', 'plan', 'build', 'execute', 'verify', 'learn'];
    return {
      slug,
      sessionIds: [`0f0e9d1c-8a7b-4c6d-9e5f-${String(index).padStart(12, '0')}`],
      mode: 'algorithm',
      task: 'Some task that has a title of a usual length',
      project: 'website',
      effort: 'E3',
      repo: 'website',
      phase: 'learn',
      artifact: `/home/ann/.steward/sessions/${slug}/ISA.md`,
      startedAt: '2026-11-01T08:00:00.000Z',
      updatedAt: endedAt,
      activity: 'ended',
      requests: [],
      agents: [],
      phaseHistory: phases.map((phase) => ({ phase, at: '2026-11-01T09:00:00.000Z', source: 'artifact' })),
      github_issue: index + 1,
      github_issue_url: `https://example.org/issues/${index + 1}`,
      terminal: { tty: '/dev/pts/3', program: 'kitty', kittySocket: null, pid: 4242, started: '12345' },
      machine: '0123456789ab',
    };
  });
  return JSON.stringify({
    version: 1,
    cursor: { offset: 0, head: '' },
    sessions: Object.fromEntries(sessions.map((session) => [session.slug, session])),
  });
}

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

/** The files of `work/` by name: the repository is private, and was read a moment ago. With labels, all issues are open. */
export function manyIssues(count: number, nowMs: number, labels?: readonly string[]): Record<string, string> {
  const [at, cache] = [toIso(nowMs), manyCached(count, nowMs)];
  if (labels !== undefined)
    cache.issues = cache.issues.map((issue) => ({ ...issue, state: 'open', labels: [...labels] }));
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
    'cache.json': cacheText(cache),
    'poll.json': `${JSON.stringify({ version: 1, repo: 'ann/work', lastFetch: at, failure: null })}\n`,
  };
}

/** Terms that share their beginnings, and a text of 4,000 characters that has many of them in it. */
export function manyTerms(count: number): { terms: Map<string, string>; text: string } {
  const terms = new Map<string, string>();
  for (let n = 0; n < count; n += 1)
    terms.set(`service ${n % 2 === 0 ? 'name' : 'node'} ${n}`, `spoken ${n} $&`);
  const parts: string[] = [];
  for (let n = 0; parts.join(' ').length < 4000; n += 7) {
    parts.push(
      n % 5 === 0
        ? 'the site is live where they live'
        : `service ${n % 2 === 0 ? 'name' : 'node'} ${n % count}`,
    );
  }
  return { terms, text: parts.join(' ').slice(0, 4000) };
}
