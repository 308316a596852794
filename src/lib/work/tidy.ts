import { toStewardError } from '../errors';
import { parseIso } from '../platform/time/clock';
import { clean } from '../platform/terminal/terminal';
import type { Claims } from '../sessions/artifact';
import { closeWith, type ActionDeps } from './actions';
import { readCache } from './cache';
import { parseTitle, type Issue } from './issue';
import { statusOf } from './label';
import { freshCache, refresh, staleness } from './poll';
import { openForWriting, repoOf } from './privacy';
import { redacted } from './redact';

export interface TidyDeps extends ActionDeps {
  /** The sessions of a slug that are known on this machine. Times are ISO-8601 UTC. */
  sessionsOf: (slug: string) => { repo: string | null; startedAt: string; updatedAt: string }[];
  /** The claims of each artifact of a slug, but of those that are to stay on this machine. */
  claimsOf: (slug: string) => Claims[];
  /** `3f2a91c Fix the login`: commits within a time, wall-clock ms, newest first; none of a repository that nobody knows. */
  commitsIn: (repo: string, from: number, to: number) => Promise<string[]>;
}

/** An issue at Status:done, and what shows that it is. */
export interface Proposal {
  number: number;
  title: string;
  url: string;
  commits: string[];
  claims: string[];
}

export interface Tidied {
  /** Was anything to be closed, or is this what would be? */
  applied: boolean;
  proposed: Proposal[];
  /** At Status:done without evidence, or with claims that are open. */
  left: { number: number; title: string; url: string; reason: string }[];
  /** Numbers that were closed. */
  closed: number[];
  failed: { number: number; message: string }[];
  /** Why the list may be old; null where it is not. */
  staleReason: string | null;
}

const MOST_SHOWN = 20;
/** The last commit of a session may come a moment after it was heard of last. */
const AFTER_MS = 3_600_000;

/**
 * `work tidy`: the open issues at Status:done, each with its evidence: the commits of its session's repository in the
 * session's time, and the closed claims of its artifact. With `apply` those that have some are closed as completed,
 * the evidence as comment; one that is not at Status:done any more by then is left alone. One that fails does not
 * keep the others.
 */
export async function tidy(deps: TidyDeps, options: { apply: boolean }): Promise<Tidied> {
  const repo = options.apply ? await openForWriting(deps) : repoOf(deps.workRepo());
  const result: Tidied = {
    applied: options.apply,
    proposed: [],
    left: [],
    closed: [],
    failed: [],
    staleReason: null,
  };
  for (const issue of await doneIssues(deps, repo, result)) {
    const { number, url } = issue;
    const about = { number, title: parseTitle(issue.title).text, url };
    const found = await evidenceOf(deps, issue);
    if (typeof found === 'string') result.left.push({ ...about, reason: found });
    else result.proposed.push({ ...about, ...found });
  }
  if (!options.apply) return result;
  const host = await deps.host();
  for (const proposal of result.proposed) {
    try {
      const now = await host.issue(repo, proposal.number);
      if (now.state === 'closed' || statusOf(now.labels) !== 'done') continue;
      await closeWith(deps, host, repo, now, evidenceText(proposal));
      result.closed.push(proposal.number);
    } catch (error) {
      result.failed.push({ number: proposal.number, message: toStewardError(error).message });
    }
  }
  return result;
}

async function doneIssues(deps: TidyDeps, repo: string, result: Tidied): Promise<Issue[]> {
  if (result.applied) await freshCache(deps, await deps.host(), repo);
  else {
    await refresh(deps);
    result.staleReason = staleness(deps, deps.workRepo()).staleReason;
  }
  return readCache(deps.paths.cache, repo).issues.filter(
    ({ state, labels }) => state === 'open' && statusOf(labels) === 'done',
  );
}

/** Or why there is none. */
async function evidenceOf(
  deps: TidyDeps,
  issue: Issue,
): Promise<Pick<Proposal, 'commits' | 'claims'> | string> {
  const slug = issue.identity?.startsWith('slug=') === true ? issue.identity.slice('slug='.length) : null;
  if (slug === null) return 'it is of no session, so nothing here shows what was done';
  const claims = deps.claimsOf(slug);
  const closed = claims.flatMap((one) => one.closed);
  const open = claims.reduce((sum, one) => sum + one.open, 0);
  if (open > 0) return `${open} of ${open + closed.length} claims of its artifact are open`;
  const commits: string[] = [];
  for (const { repo, startedAt, updatedAt } of deps.sessionsOf(slug)) {
    const from = parseIso(startedAt);
    const to = parseIso(updatedAt);
    if (repo === null || from === undefined || to === undefined) continue;
    commits.push(...(await deps.commitsIn(repo, from, to + AFTER_MS)));
  }
  const shown = (texts: readonly string[]): string[] => texts.map((text) => redacted(clean(text)));
  const evidence = { commits: shown([...new Set(commits)]), claims: shown(closed) };
  if (evidence.commits.length + evidence.claims.length > 0) return evidence;
  return 'there is no commit of its session and no closed claim';
}

/** The comment. */
function evidenceText({ commits, claims }: Pick<Proposal, 'commits' | 'claims'>): string {
  const list = (name: string, texts: readonly string[]): string[] => {
    if (texts.length === 0) return [];
    const more = texts.length - MOST_SHOWN;
    return [
      `${name} (${texts.length}):`,
      // As code: a subject names issues of its own repository, and nobody is to be called.
      ...texts.slice(0, MOST_SHOWN).map((text) => `- \`${text.replaceAll('`', "'")}\``),
      ...(more > 0 ? [`- and ${more} more`] : []),
      '',
    ];
  };
  return ['Done, by what the session left:', '', ...list('Commits', commits), ...list('Claims', claims)]
    .join('\n')
    .trimEnd();
}
