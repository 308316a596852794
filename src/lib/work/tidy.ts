import { dirname } from 'node:path';

import { toStewardError } from '../errors';
import { repositoryOf } from '../platform/files/git-folder';
import { listFolder } from '../platform/files/folder';
import { gitIn } from '../platform/process/git';
import { clean } from '../platform/terminal/terminal';
import { parseIso, toIso } from '../platform/time/clock';
import { artifactOf, artifactPath, claimsOf, type Claims } from '../sessions/artifact';
import type { SessionsState } from '../sessions/session';
import { isSlug } from '../sessions/slug';
import { closeWith } from './actions';
import { readCache } from './cache';
import type { WorkDeps } from './deps';
import { parseTitle, slugOf, type Issue } from './issue';
import { statusOf } from './label';
import { codeSpan } from './markdown';
import { freshCache, refresh, staleness } from './poll';
import { openForWriting, repoOf } from './privacy';
import { isRestricted, redacted } from './redact';

/** What shows on this machine that something was done. */
export interface Evidence {
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

const GIT_TIMEOUT_MS = 10_000;
const MOST_COMMITS = 100;
const MOST_SHOWN = 20;
/** The last commit of a session may come a moment after it was heard of last. */
const AFTER_MS = 3_600_000;

/**
 * `work tidy`: the open issues at Status:done, each with its evidence: the commits of its session's repository in the
 * session's time, and the closed claims of its artifact. With `apply` those that have some are closed as completed,
 * the evidence as comment; one that is not at Status:done any more by then is left alone. One that fails does not
 * keep the others.
 */
export async function tidy(deps: WorkDeps, known: Evidence, { apply }: { apply: boolean }): Promise<Tidied> {
  const open = apply ? await openForWriting(deps) : undefined;
  const repo = repoOf(deps.workRepo());
  if (open === undefined) await refresh(deps);
  else await freshCache(deps, open.host, repo);
  const result: Tidied = {
    applied: apply,
    proposed: [],
    left: [],
    closed: [],
    failed: [],
    staleReason: apply ? null : staleness(deps, deps.workRepo()).staleReason,
  };
  const { issues } = readCache(deps.paths.cache, repo);
  for (const issue of issues.filter(({ state, labels }) => state === 'open' && statusOf(labels) === 'done')) {
    const about = { number: issue.number, title: parseTitle(issue.title).text, url: issue.url };
    const found = await evidenceOf(known, issue);
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

/** Or why there is none. */
async function evidenceOf(
  known: Evidence,
  issue: Issue,
): Promise<Pick<Proposal, 'commits' | 'claims'> | string> {
  const slug = slugOf(issue);
  if (slug === null) return 'it is of no session, so nothing here shows what was done';
  const claims = known.claimsOf(slug);
  const closed = claims.flatMap((one) => one.closed);
  const open = claims.reduce((sum, one) => sum + one.open, 0);
  if (open > 0) return `${open} of ${open + closed.length} claims of its artifact are open`;
  const commits = new Set<string>();
  for (const { repo, startedAt, updatedAt } of known.sessionsOf(slug)) {
    const [from, to] = [parseIso(startedAt), parseIso(updatedAt)];
    if (repo === null || from === undefined || to === undefined) continue;
    for (const commit of await known.commitsIn(repo, from, to + AFTER_MS)) commits.add(commit);
  }
  if (commits.size + closed.length === 0) return 'there is no commit of its session and no closed claim';
  const shown = (texts: Iterable<string>): string[] => [...texts].map((text) => redacted(clean(text)));
  return { commits: shown(commits), claims: shown(closed) };
}

/** The comment. */
function evidenceText({ commits, claims }: Pick<Proposal, 'commits' | 'claims'>): string {
  const list = (name: string, texts: readonly string[]): string[] => {
    if (texts.length === 0) return [];
    const more = texts.length - MOST_SHOWN;
    return [
      `${name} (${texts.length}):`,
      // A subject names issues of its own repository.
      ...texts.slice(0, MOST_SHOWN).map((text) => `- ${codeSpan(text)}`),
      ...(more > 0 ? [`- and ${more} more`] : []),
      '',
    ];
  };
  return ['Done, by what the session left:', '', ...list('Commits', commits), ...list('Claims', claims)]
    .join('\n')
    .trimEnd();
}

/**
 * The evidence on this machine.
 *
 * @param at.sessions the folder of the artifacts
 * @param at.repos folders of repositories: the watched and the tracked ones
 */
export function evidenceOn(
  { run }: WorkDeps['git'],
  at: { sessions: string; state: SessionsState; repos: string[] },
): Evidence {
  const folders = foldersBySlug(at.sessions);
  const { sessions } = at.state;
  return {
    sessionsOf: (slug) =>
      folders(slug).flatMap((name) => (Object.hasOwn(sessions, name) ? (sessions[name] ?? []) : [])),
    claimsOf: (slug) =>
      folders(slug)
        .filter((name) => !isRestricted(dirname(artifactPath(at.sessions, name))))
        .flatMap((name) => claimsOf(at.sessions, name) ?? []),
    async commitsIn(name, from, to) {
      const root = at.repos.map((path) => repositoryOf(path)).find((found) => found?.name === name)?.root;
      if (root === undefined) return [];
      const git = gitIn({ run, timeoutMs: () => GIT_TIMEOUT_MS }, root);
      const range = [`--since=${toIso(from)}`, `--until=${toIso(to)}`, `--max-count=${MOST_COMMITS}`];
      const said = await git(['log', '--branches', '--no-merges', ...range, '--format=%h %s']);
      return said.split('\n').filter((line) => line !== '');
    },
  };
}

/**
 * The names of the folders that an issue's slug stands for, as the capture knows them: of each artifact that names the
 * slug, and the one of that name whose artifact names none, or is gone.
 */
function foldersBySlug(sessions: string): (slug: string) => readonly string[] {
  let known: Map<string, string[]> | undefined;
  const read = (): Map<string, string[]> => {
    const found = new Map<string, string[]>();
    for (const name of listFolder(sessions).sort()) {
      if (!isSlug(name)) continue;
      const slug = artifactOf(sessions, name)?.slug ?? name;
      found.set(slug, [...(found.get(slug) ?? []), name]);
    }
    return found;
  };
  return (slug) => (known ??= read()).get(slug) ?? [slug].filter(isSlug);
}
