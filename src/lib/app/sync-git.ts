import { StewardError } from '../errors';
import { gitAddress, type GitAddress } from '../platform/net/git-address';
import { remoteGit, type Remote, type RemoteGitDeps } from '../platform/process/git';
import { cloneFolder } from '../sync/clone';
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
export async function exchangeThrough(
  context: Context,
  folder: string,
  repo: string,
): Promise<{ received: string[]; sent: boolean }> {
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
  { mayBePublic = false } = {},
): Promise<GitExchange> {
  const { openWork } = await import('./work');
  const { deps } = await openWork(context);
  const { git } = deps;
  const address = gitAddress(repo);
  const seen = address === undefined ? await (await deps.host()).repository(repo) : undefined;
  const visibility = seen?.visibility ?? ((await isOpen(context, git, address)) ? 'public' : 'private');
  if (visibility !== 'private' && !mayBePublic) {
    throw new StewardError('conflict', `${seen?.repo ?? repo} is ${visibility}, so nothing was pushed.`, {
      hint: 'Make the repository private, use a different one, or delete the data already published: steward sync leave --remove',
    });
  }
  return {
    git,
    remote: address === undefined ? await deps.remote(repo) : { ...address, credential: 'own' },
    folder,
    machineId: context.machineId,
    clone: cloneFolder(context),
  };
}

/** Returns whether the repository can be read without a credential. */
async function isOpen(
  { area }: Pick<Context, 'area'>,
  git: RemoteGitDeps,
  address: GitAddress | undefined,
): Promise<boolean> {
  if (address?.openUrl === undefined) return false;
  const open: Remote = { url: address.openUrl, protocol: 'https', credential: 'none' };
  return (await remoteGit(git, area.machine, open)('ls-remote', open.url)).code === 0;
}
