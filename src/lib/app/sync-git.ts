import { StewardError } from '../errors';
import { gitAddress, type GitAddress } from '../platform/net/git-address';
import { remoteGit, type Remote, type RemoteGitDeps } from '../platform/process/git';
import { cloneFolder } from '../sync/clone';
import type { ExchangeDeps } from '../sync/engine';
import type { GitExchange } from '../sync/git';
import type { Context } from './context';
import { openSync } from './sync';

/** Returns the dependencies of an exchange through git. */
export function openExchange(context: Context, folder: string, repo: string): ExchangeDeps {
  return {
    machine: context,
    folder,
    repo,
    sync: () => openSync(context),
    git: () => openGit(context, folder, repo),
  };
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
