import { toStewardError } from '../errors';
import { listFolder } from '../platform/files/folder';
import { repositoryOf } from '../platform/files/git-folder';
import { gitIn } from '../platform/process/git';
import { clean } from '../platform/terminal/terminal';
import { parseIso, toIso } from '../platform/time/clock';
import { artifactOf, claimsOf } from '../sessions/artifact';
import type { Session, SessionsState } from '../sessions/session';
import { isSlug } from '../sessions/slug';
import { closeWith } from './actions';
import { readCache } from './cache';
import type { WorkDeps } from './deps';
import { titleText, slugOf, type Issue } from './issue';
import { statusOf } from './label';
import { codeSpan, redact } from './outgoing';
import { freshCache, refresh, staleness } from './poll';
import { openForWriting, repoOf } from './privacy';

/** An issue labeled Status:done, and its evidence. */
interface Proposal {
  number: number;
  title: string;
  url: string;
  commits: string[];
  claims: string[];
}

export interface Tidied {
  /** Whether the proposed issues were closed. */
  applied: boolean;
  proposed: Proposal[];
  /** Issues labeled Status:done that stay open, because they lack evidence or have unchecked items. */
  left: { number: number; title: string; url: string; reason: string }[];
  closed: number[];
  failed: { number: number; message: string }[];
  /** Why the issue list may be out of date; `null` if it is current. */
  staleReason: string | null;
}

const GIT_TIMEOUT_MS = 10_000;
const MAX_COMMITS = 100;
const MAX_SHOWN = 20;
/** Maximum time between a session's last event and a commit that counts as evidence. */
const COMMIT_DELAY_MS = 3_600_000;

/**
 * Runs `work tidy`: finds open Status:done issues whose session has commits or checked items. Without `dryRun`,
 * closes them with the evidence as a comment.
 */
export async function tidy(deps: WorkDeps, evidence: Evidence, { dryRun }: { dryRun: boolean }) {
  const open = !dryRun ? await openForWriting(deps) : undefined;
  const repo = repoOf(deps.workRepo());
  if (open === undefined) await refresh(deps);
  else await freshCache(deps, open.host, repo);
  const staleReason = !dryRun ? null : staleness(deps, deps.workRepo()).staleReason;
  const result: Tidied = { applied: !dryRun, proposed: [], left: [], closed: [], failed: [], staleReason };
  const { issues } = readCache(deps.paths.cache, repo);
  for (const issue of issues.filter(({ state, labels }) => state === 'open' && statusOf(labels) === 'done')) {
    const about = { number: issue.number, title: titleText(issue.title), url: issue.url };
    const found = await evidenceOf(evidence, issue);
    if (typeof found === 'string') result.left.push({ ...about, reason: found });
    else result.proposed.push({ ...about, ...found });
  }
  if (open === undefined) return result;
  for (const proposal of result.proposed) {
    try {
      const now = await open.host.issue(repo, proposal.number);
      if (now.state === 'closed' || statusOf(now.labels) !== 'done') continue;
      await closeWith(open, now, evidenceText(proposal));
      result.closed.push(proposal.number);
    } catch (error) {
      result.failed.push({ number: proposal.number, message: toStewardError(error).message });
    }
  }
  return result;
}

/** Returns an issue's evidence, or the reason that there is none. */
async function evidenceOf(
  evidence: Evidence,
  issue: Issue,
): Promise<Pick<Proposal, 'commits' | 'claims'> | string> {
  const slug = slugOf(issue);
  if (slug === null) return 'the issue has no session, so there is no evidence';
  const claims = evidence.claimsOf(slug);
  const closed = claims.flatMap((each) => each.closed);
  const open = claims.reduce((sum, each) => sum + each.open, 0);
  if (open > 0) return `${open} of ${open + closed.length} items in the session file are unchecked`;
  const commits = new Set<string>();
  for (const { repo, startedAt, updatedAt } of evidence.sessionsOf(slug)) {
    const [from, to] = [parseIso(startedAt), parseIso(updatedAt)];
    if (repo === null || from === undefined || to === undefined) continue;
    for (const commit of await evidence.commitsIn(repo, from, to + COMMIT_DELAY_MS)) commits.add(commit);
  }
  if (commits.size + closed.length === 0) return 'the session has no commits or checked items';
  const safe = (texts: Iterable<string>): string[] => [...texts].map((text) => redact(clean(text)));
  return { commits: safe(commits), claims: safe(closed) };
}

function evidenceText({ commits, claims }: Pick<Proposal, 'commits' | 'claims'>): string {
  const list = (name: string, texts: readonly string[]): string[] => {
    if (texts.length === 0) return [];
    const more = texts.length - MAX_SHOWN;
    return [
      `${name} (${texts.length}):`,
      // Format the text as code, so that GitHub doesn't link issue references in commit subjects.
      ...texts.slice(0, MAX_SHOWN).map((text) => `- ${codeSpan(text)}`),
      ...(more > 0 ? [`- and ${more} more`] : []),
      '',
    ];
  };
  return [
    'Done. Evidence from the session:',
    '',
    ...list('Commits', commits),
    ...list('Checked items', claims),
  ]
    .join('\n')
    .trimEnd();
}

/**
 * Returns a reader for the evidence on this machine.
 * @param at.sessions The folder that contains the session files.
 * @param at.repos The folders of the watched and tracked repositories.
 */
export function evidenceOn(
  { run }: WorkDeps['git'],
  at: { sessions: string; state: SessionsState; repos: string[] },
) {
  const { sessions } = at.state;
  const sessionOf = (name: string): Session | undefined =>
    Object.hasOwn(sessions, name) ? sessions[name] : undefined;
  const known = foldersBySlug(at.sessions);
  return {
    /** Returns the known sessions for a slug. */
    sessionsOf: (slug: string): Pick<Session, 'repo' | 'startedAt' | 'updatedAt'>[] =>
      known(slug).flatMap((name) => sessionOf(name) ?? []),
    /** Returns the checklist items in each session file with this slug. */
    claimsOf: (slug: string) => known(slug).flatMap((name) => claimsOf(at.sessions, name) ?? []),
    /** Returns the commits in a time range, newest first; none if the repository is unknown. */
    async commitsIn(name: string, from: number, to: number) {
      const root = at.repos.map(repositoryOf).find((found) => found?.name === name)?.root;
      if (root === undefined) return [];
      const git = gitIn({ run, timeoutMs: () => GIT_TIMEOUT_MS }, root);
      const range = [`--since=${toIso(from)}`, `--until=${toIso(to)}`, `--max-count=${MAX_COMMITS}`];
      const log = await git(['log', '--branches', '--no-merges', ...range, '--format=%h %s']);
      return log.split('\n').filter((line) => line !== '');
    },
  };
}

export type Evidence = ReturnType<typeof evidenceOn>;

/** Returns a lookup of session folders by slug. The slug comes from the session file or the folder's name. */
function foldersBySlug(sessions: string): (slug: string) => readonly string[] {
  const read = (): Map<string, string[]> => {
    const found = new Map<string, string[]>();
    for (const name of listFolder(sessions).sort().filter(isSlug)) {
      const slug = artifactOf(sessions, name)?.slug ?? name;
      found.set(slug, [...(found.get(slug) ?? []), name]);
    }
    return found;
  };
  let known: Map<string, string[]> | undefined;
  return (slug) => (known ??= read()).get(slug) ?? [slug].filter(isSlug);
}
