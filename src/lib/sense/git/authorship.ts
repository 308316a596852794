import { gitIn } from '../../platform/process/git';
import { unrestrictedRepos } from '../../sessions/restricted';
import type { GitSourceDeps } from '.';
import { emailsOf } from './queries';
import { refuseOddFiles } from './refs';

const GIT_TIMEOUT_MS = 10_000;

/** Counts the commits on all branches since a time. Returns null for a restricted repository. */
export async function authorshipOf(
  { run, config, yours = [] }: Pick<GitSourceDeps, 'run' | 'config' | 'yours'>,
  root: string,
  sinceMs: number,
) {
  const folder = unrestrictedRepos([root]).get(root);
  if (folder === undefined) return null;
  refuseOddFiles(folder);
  const git = gitIn({ run, timeoutMs: () => GIT_TIMEOUT_MS }, root);
  const emails = await emailsOf(git, { authors: config.git.authors, yours });
  const name = (await git(['config', '--get', 'user.name'], { accept: [1] })).trim();
  const since = ['--ignore-missing', `--max-age=${Math.floor(sinceMs / 1000)}`];
  const log = await git([...LOG, ...since, '--branches', 'HEAD']);
  const aliases = new Map<string, number>();
  const counts = { own: 0, others: 0 };
  for (const line of log.split('\n').filter((text) => text !== '')) {
    const [address = '', author] = line.split('\0');
    const email = address.toLowerCase();
    const isOwn = emails?.includes(email) ?? true;
    counts[isOwn ? 'own' : 'others'] += 1;
    if (!isOwn && name !== '' && author === name && PLAIN_ADDRESS.test(email))
      aliases.set(email, (aliases.get(email) ?? 0) + 1);
  }
  return {
    /** The addresses whose commits count; null if everyone's do. */
    emails: emails ?? null,
    ...counts,
    /** Other addresses of commits under your name, the most used first. */
    aliases: mostUsedFirst(aliases),
  };
}

/** Whose commits a repository has. */
export type Authorship = NonNullable<Awaited<ReturnType<typeof authorshipOf>>>;

export function mostUsedFirst(commits: ReadonlyMap<string, number>) {
  return [...commits]
    .map(([email, count]) => ({ email, commits: count }))
    .sort((a, b) => b.commits - a.commits);
}

/** Other addresses of commits are not offered, because they come from elsewhere and end up in commands. */
const PLAIN_ADDRESS = /^\w[\w.+%-]{0,99}@[\w.-]{1,99}$/;

const LOG = [
  ...'log --encoding=UTF-8 --no-merges --no-show-signature --no-notes --no-color --no-patch'.split(' '),
  '--format=%ae%x00%an',
];
