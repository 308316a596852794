import type { GitExchange } from '../sync/git';
import type { Context } from './context';
import { openSync } from './sync';

/** Returns the exchange folder and the repository, if git is the sync engine. */
export async function openGitPlace(context: Context): Promise<{ folder?: string; repo?: string }> {
  const { engine, folder, repo } = (await context.loadConfig()).config.user.sync;
  return engine === 'git' && folder !== undefined && repo !== undefined ? { folder, repo } : {};
}

/** Exchanges through git, if it is the sync engine. Returns whether this machine sent anything. */
export async function exchangeNow(context: Context): Promise<boolean> {
  const { folder, repo } = await openGitPlace(context);
  if (folder === undefined || repo === undefined) return false;
  return (await exchangeThrough(context, folder, repo)).sent;
}

/** Exchanges the folder's files through a repository. */
export async function exchangeThrough(context: Context, folder: string, repo: string) {
  const { exchange } = await import('../sync/engine');
  const git = () => openGit(context, folder, repo);
  const isChosen = (await openGitPlace(context)).repo === repo;
  return exchange({ machine: context, folder, repo, isChosen, git, sync: () => openSync(context) });
}

/** Opens a private repository for an exchange. Throws `conflict` if everybody can read it. */
export async function openGit(
  context: Context,
  folder: string,
  repo: string,
  options: { mayBePublic?: boolean } = {},
): Promise<GitExchange> {
  const { openWork } = await import('./work');
  const { git, host, remote } = (await openWork(context)).deps;
  const { openRepository } = await import('../sync/git');
  const shown = async (name: string) => (await host()).repository(name);
  return openRepository({ machine: context, git, shown, remote }, folder, repo, options);
}
